//===- KernelCost.cpp - The cost and the takeovers of a kernel ------------===//
//
// Computes the bytes, the work, the time and the takeovers of a kernel that
// obeys the rules. `analyze` calls it once per kernel.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/KernelAnalysis.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

/// Products of two 64-bit figures.
__extension__ typedef __int128 Wide;

/// Costs beyond this are all alike (10^17 operations, or years).
constexpr int64_t costLimit = INT64_MAX / 64;

int64_t clampCost(Wide cost) {
  return cost > costLimit ? costLimit : static_cast<int64_t>(cost);
}

/// Place of the elements of a value that make one element of an output: its
/// coordinates in a shape (the number), or one of these.
enum Place : int32_t { elsewhere = -1, unread = -2 };

} // namespace

/// Hands the places of the results of an op on to its reads.
void KernelAnalysis::spread(int32_t position,
                            std::vector<int32_t> &places) const {
  const Op &reader = op(position);
  for (size_t k = 0; k < reader.results.size(); ++k) {
    int32_t result = firstResult[position] + k;
    if (places[result] == unread)
      continue;
    int32_t same =
        reader.kind == OpKind::View ? localSame(position) : int32_t(none);
    if (same != none) {
      bool first = places[same] == unread;
      places[same] =
          first || places[same] == places[result] ? places[result] : elsewhere;
      continue;
    }
    size_t destinations = 0;
    for (size_t r = 0; r < reader.reads.size(); ++r) {
      const Read &read = reader.reads[r];
      int32_t source = localRead(position, r);
      int32_t place = elsewhere;
      if (isAnchor(reader)) {
        // The op updates destination k into result k; whatever else an anchor
        // reads serves many elements.
        if (read.destination && destinations++ != k)
          continue;
        if (read.destination &&
            (read.access == Access::Pointwise || reader.kind == OpKind::Opaque))
          place = places[result];
      } else if (read.access == Access::Pointwise ||
                 read.access == Access::Aligned) {
        place = places[result];
      } else if (read.access == Access::Reshape &&
                 places[result] == valueOf(result).shape) {
        place = valueOf(source).shape;
      }
      bool first = places[source] == unread;
      places[source] = first || places[source] == place ? place : elsewhere;
    }
  }
}

/// For every local value, the shape in which its coordinates are those of a
/// position with the linear position of the element of \p output being made.
std::vector<int32_t> KernelAnalysis::placesFor(int32_t output) const {
  std::vector<int32_t> places(locals.size(), unread);
  places[output] = valueOf(output).shape;
  for (int32_t i = locals[output].maker; i >= 0; --i)
    spread(i, places);
  return places;
}

/// How often the anchor reads the value, reshapes looked through.
int32_t KernelAnalysis::readsOfAnchor(int32_t local) const {
  int32_t count = 0;
  for (size_t r = 0; r < op(anchor).reads.size(); ++r) {
    int32_t source = localRead(anchor, r);
    while (locals[source].maker != none)
      source = localRead(locals[source].maker, 0);
    count += source == local;
  }
  return count;
}

void KernelAnalysis::findInPlacePairs() {
  std::vector<std::vector<int32_t>> places;
  for (int32_t output : outputs)
    places.push_back(placesFor(output));
  bool isOpaque = anchor != none && op(anchor).kind == OpKind::Opaque;
  for (int32_t input = locals.size() - info.memoryReads.size();
       input < static_cast<int32_t>(locals.size()); ++input) {
    const Value &source = valueOf(input);
    // An opaque op may write its results in any order.
    if (isOpaque && readsOfAnchor(input) > 1)
      continue;
    for (size_t k = 0; k < outputs.size(); ++k) {
      const Value &target = valueOf(outputs[k]);
      bool isDonated =
          target.home == Home::Result && target.host == locals[input].value;
      if (!problem.takesOver && !isOpaque && !isDonated)
        continue;
      if (source.bytes != target.bytes || source.elements != target.elements ||
          places[k][input] != source.shape)
        continue;
      // Other outputs that need the input are made in the same iteration.
      bool allowed = true;
      for (size_t j = 0; j < outputs.size(); ++j)
        if (places[j][input] != unread)
          allowed &= places[j][input] == source.shape &&
                     lastPermute[locals[outputs[j]].maker] ==
                         lastPermute[locals[outputs[k]].maker];
      if (allowed)
        info.inPlace.push_back({locals[input].value, static_cast<int32_t>(k)});
    }
  }
}

/// A read through views counts the bytes that they show: a slice counts its own
/// bytes only.
void KernelAnalysis::countBytes() {
  std::vector<int64_t> touched(locals.size(), 0);
  for (int32_t output : outputs) {
    touched[output] = valueOf(output).bytes;
    info.bytesMoved += valueOf(output).bytes;
  }
  for (int32_t i = size - 1; i >= 0; --i)
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      int32_t source = localRead(i, r);
      int64_t shown = op(i).kind == OpKind::View
                          ? touched[firstResult[i]]
                          : bytesRead(problem, op(i), op(i).reads[r]);
      touched[source] =
          std::min(valueOf(source).bytes, touched[source] + shown);
    }
  for (size_t i = locals.size() - info.memoryReads.size(); i < locals.size();
       ++i)
    info.bytesMoved += touched[i];
}

/// Whether the smaller is about half of the larger, or nearer to it.
static bool isAbout(int64_t elements, int64_t others) {
  auto [less, more] = std::minmax(elements, others);
  return less > 1 && less >= more / 5 * 2;
}

/// Bytes of the results of an opaque op that the kernel does not write: the op
/// needs a place for them nevertheless.
int64_t KernelAnalysis::droppedBytes(int32_t position) const {
  int64_t bytes = 0;
  if (op(position).kind != OpKind::Opaque)
    return bytes;
  for (size_t k = 0; k < op(position).results.size(); ++k) {
    int32_t result = firstResult[position] + static_cast<int32_t>(k);
    if (std::find(outputs.begin(), outputs.end(), result) == outputs.end())
      bytes += slotBytes(valueOf(result).bytes);
  }
  return bytes;
}

/// An op is made once for all readers at the same coordinates. A reader that
/// cuts halves off, joins them or looks elements up needs other elements: the
/// op is made once more for each. A reader that spreads few elements finds them
/// made.
void KernelAnalysis::countWork() {
  std::vector<int64_t> evaluations(size, 0), apart(size, 0);
  for (int32_t output : outputs) {
    int64_t &count = evaluations[locals[output].maker];
    count = std::max(count, valueOf(output).elements);
  }
  Wide computePs = 0, flops = 0;
  for (int32_t i = size - 1; i >= 0; --i) {
    int64_t elements = 0;
    for (ValueId result : op(i).results)
      elements = std::max(elements, problem.values[result].elements);
    int64_t iterations = elements;
    evaluations[i] = clampCost(Wide(evaluations[i]) + apart[i]);
    if (isAnchor(op(i)))
      for (const Read &read : op(i).reads)
        iterations = std::max(iterations, problem.values[read.value].elements);
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      int32_t maker = locals[localRead(i, r)].maker;
      if (maker == none)
        continue;
      int64_t times = !isAnchor(op(i))             ? evaluations[i]
                      : op(i).reads[r].destination ? elements
                                                   : iterations;
      const Read &read = op(i).reads[r];
      bool isElsewhere =
          read.access == Access::Gather ||
          ((read.access == Access::Any || read.access == Access::Stretch) &&
           isAbout(elements, problem.values[read.value].elements));
      if (!isAnchor(op(i)) && isElsewhere)
        apart[maker] = clampCost(Wide(apart[maker]) + times);
      else
        evaluations[maker] = std::max(evaluations[maker], times);
    }
    bool once = isAnchor(op(i)) || elements == 0;
    Wide times = once ? 1 : evaluations[i], of = once ? 1 : elements;
    computePs += op(i).computePs * times / of;
    flops += op(i).flops * times / of;
    info.workspaceBytes += op(i).workspaceBytes + droppedBytes(i);
  }
  Wide memoryPs = Wide(info.bytesMoved) * 1000000 / problem.bytesPerMicrosecond;
  Wide timePs = std::max(computePs, memoryPs) + Wide(problem.launchNs) * 1000;
  info.flops = clampCost(flops);
  info.timeNs = clampCost((timePs + 999) / 1000);
}
