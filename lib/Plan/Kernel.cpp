//===- Kernel.cpp - The rules of kernels ----------------------------------===//
//
// Each rule is one function over a kernel whose values have been numbered
// locally, so that the work depends on the size of the kernel alone: solvers
// ask for thousands of kernels of problems with thousands of ops.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Kernel.h"

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

/// Where the elements of a value stand that make one element of an output: at
/// its coordinates in a shape (the number), or one of these.
enum Place : int32_t { elsewhere = -1, unread = -2 };

/// A value that the kernel makes or reads; `maker` is the position of its op in
/// the kernel, or `none` if it stands in memory.
struct Local {
  ValueId value;
  int32_t maker;
};

class Analysis {
public:
  Analysis(const Problem &problem, const Kernel &kernel)
      : problem(problem), kernel(kernel), size(kernel.ops.size()) {}

  KernelInfo run() {
    bool legal = checkLists() && checkOneAnchor();
    if (legal) {
      numberValues();
      legal = checkNeeds() && checkOpaque() && checkEpilogue() &&
              checkOutputs() && checkAllNeeded();
    }
    if (!legal)
      return std::move(info);
    findInPlacePairs();
    countBytes();
    countWork();
    return std::move(info);
  }

private:
  const Op &op(int32_t position) const {
    return problem.ops[kernel.ops[position]];
  }
  std::string name(int32_t position) const {
    return "op " + std::to_string(kernel.ops[position]) + " (" +
           op(position).name + ")";
  }
  const Value &valueOf(int32_t local) const {
    return problem.values[locals[local].value];
  }
  bool fail(std::string error) {
    info.error = std::move(error);
    return false;
  }
  /// Position of \p id in the kernel, or `none`.
  int32_t positionOf(OpId id) const {
    auto found = std::lower_bound(kernel.ops.begin(), kernel.ops.end(), id);
    if (id == none || found == kernel.ops.end() || *found != id)
      return none;
    return found - kernel.ops.begin();
  }
  int32_t localResult(ValueId value) const {
    int32_t maker = positionOf(problem.values[value].op);
    const std::vector<ValueId> &results = op(maker).results;
    return firstResult[maker] +
           (std::find(results.begin(), results.end(), value) - results.begin());
  }
  int32_t localRead(int32_t position, size_t read) const {
    return reads[firstRead[position] + read];
  }

  bool checkLists();
  bool checkOneAnchor();
  void numberValues();
  bool checkNeeds();
  bool checkOpaque();
  bool checkEpilogue();
  bool checkOutputs();
  bool checkAllNeeded();
  bool standsInMemory(int32_t local, bool contiguous) const;

  void findInPlacePairs();
  std::vector<int32_t> placesFor(int32_t output) const;
  void spread(int32_t position, std::vector<int32_t> &places) const;
  int32_t readsOfAnchor(int32_t local) const;

  void countBytes();
  void countWork();

  const Problem &problem;
  const Kernel &kernel;
  const int32_t size;
  KernelInfo info;
  /// Position of the anchor in the kernel, or `none`.
  int32_t anchor = none;
  /// Values made inside, then those read from memory in ascending order.
  std::vector<Local> locals;
  std::vector<int32_t> firstResult, firstRead;
  /// Local number of each read of each op.
  std::vector<int32_t> reads;
  /// Local number of each output.
  std::vector<int32_t> outputs;
  /// Per op: whether it depends on the anchor, and then the last view and the
  /// last permutation on the way from it (`none` if there is none).
  std::vector<char> inEpilogue;
  std::vector<OpId> lastView, lastPermute;
};

bool Analysis::checkLists() {
  OpId opCount = problem.ops.size();
  if (kernel.ops.empty())
    return fail("a kernel without ops");
  for (int32_t i = 0; i < size; ++i)
    if (kernel.ops[i] < 0 || kernel.ops[i] >= opCount ||
        (i && kernel.ops[i] <= kernel.ops[i - 1]))
      return fail("the ops of a kernel are not ascending op numbers");
  ValueId valueCount = problem.values.size();
  for (size_t i = 0; i < kernel.outputs.size(); ++i) {
    ValueId value = kernel.outputs[i];
    if (value < 0 || value >= valueCount ||
        positionOf(problem.values[value].op) == none)
      return fail("output " + std::to_string(value) +
                  " is not made by an op of the kernel");
    if (std::count(kernel.outputs.begin(), kernel.outputs.begin() + i, value))
      return fail("output " + std::to_string(value) + " is written twice");
  }
  return true;
}

bool Analysis::checkOneAnchor() {
  for (int32_t i = 0; i < size; ++i) {
    if (!isAnchor(op(i)))
      continue;
    if (anchor != none)
      return fail(name(i) + " is a second anchor next to " + name(anchor));
    anchor = i;
    info.anchor = kernel.ops[i];
  }
  return true;
}

void Analysis::numberValues() {
  for (int32_t i = 0; i < size; ++i) {
    firstResult.push_back(locals.size());
    for (ValueId result : op(i).results)
      locals.push_back({result, i});
    for (const Read &read : op(i).reads)
      if (positionOf(problem.values[read.value].op) == none)
        info.memoryReads.push_back(read.value);
  }
  std::vector<ValueId> &memory = info.memoryReads;
  std::sort(memory.begin(), memory.end());
  memory.erase(std::unique(memory.begin(), memory.end()), memory.end());
  int32_t made = locals.size();
  for (ValueId value : memory)
    locals.push_back({value, none});

  for (int32_t i = 0; i < size; ++i) {
    firstRead.push_back(reads.size());
    for (const Read &read : op(i).reads) {
      if (positionOf(problem.values[read.value].op) != none)
        reads.push_back(localResult(read.value));
      else
        reads.push_back(
            made + (std::lower_bound(memory.begin(), memory.end(), read.value) -
                    memory.begin()));
    }
  }
  for (ValueId output : kernel.outputs)
    outputs.push_back(localResult(output));
}

/// Whether the kernel finds the value in memory, seen through views.
bool Analysis::standsInMemory(int32_t local, bool contiguous) const {
  for (int32_t maker; (maker = locals[local].maker) != none;
       local = localRead(maker, 0)) {
    if (op(maker).kind != OpKind::View)
      return false;
    if (contiguous && op(maker).reads[0].access != Access::Reshape)
      return false;
  }
  return true;
}

bool Analysis::checkNeeds() {
  for (int32_t i = 0; i < size; ++i)
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      Need need = op(i).reads[r].need;
      if (need == Need::Inline ||
          standsInMemory(localRead(i, r), need == Need::Contiguous))
        continue;
      return fail(name(i) + " needs value " +
                  std::to_string(op(i).reads[r].value) + " in memory" +
                  (need == Need::Contiguous ? " as it is laid out" : "") +
                  ", but the kernel computes it");
    }
  return true;
}

bool Analysis::checkOpaque() {
  if (anchor == none || op(anchor).kind != OpKind::Opaque)
    return true;
  for (int32_t i = 0; i < size; ++i)
    if (i != anchor && (op(i).kind != OpKind::View ||
                        op(i).reads[0].access != Access::Reshape))
      return fail(name(i) + " stands in one kernel with the opaque " +
                  name(anchor));
  return true;
}

/// Marks what depends on the anchor and checks that it does so one to one.
bool Analysis::checkEpilogue() {
  inEpilogue.assign(size, false);
  lastView.assign(size, none);
  lastPermute.assign(size, none);
  if (anchor == none)
    return true;
  for (int32_t i = anchor + 1; i < size; ++i) {
    bool isView = op(i).kind == OpKind::View;
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      int32_t maker = locals[localRead(i, r)].maker;
      if (maker == none || (maker != anchor && !inEpilogue[maker]))
        continue;
      Access access = op(i).reads[r].access;
      if (access != Access::Pointwise &&
          !(isView && (access == Access::Reshape || access == Access::Permute)))
        return fail(name(i) + " reads what depends on the anchor " +
                    name(anchor) + ", but not one to one");
      if (inEpilogue[i] && lastView[i] != lastView[maker])
        return fail(name(i) + " reads what depends on the anchor " +
                    name(anchor) + " through different views");
      inEpilogue[i] = true;
      lastView[i] = lastView[maker];
      lastPermute[i] = lastPermute[maker];
    }
    if (!isView || !inEpilogue[i])
      continue;
    lastView[i] = kernel.ops[i];
    if (op(i).reads[0].access == Access::Permute)
      lastPermute[i] = kernel.ops[i];
  }
  return true;
}

bool Analysis::checkOutputs() {
  bool hasEffects = anchor != none && op(anchor).hasEffects;
  if (outputs.empty() && !hasEffects)
    return fail("a kernel without outputs");
  for (int32_t output : outputs) {
    int32_t maker = locals[output].maker;
    std::string text = "output " + std::to_string(locals[output].value);
    if (anchor != none) {
      if (maker != anchor && !inEpilogue[maker])
        return fail(text + " does not depend on the anchor " + name(anchor));
      if (maker != anchor && op(anchor).kind == OpKind::Opaque)
        return fail(text + " is made after the opaque " + name(anchor));
    } else if (valueOf(output).shape != valueOf(outputs.front()).shape) {
      return fail(text + " has another shape than output " +
                  std::to_string(locals[outputs.front()].value));
    }
  }
  return true;
}

bool Analysis::checkAllNeeded() {
  std::vector<char> needed(size, false);
  for (int32_t output : outputs)
    needed[locals[output].maker] = true;
  if (anchor != none && op(anchor).hasEffects)
    needed[anchor] = true;
  for (int32_t i = size - 1; i >= 0; --i) {
    if (!needed[i])
      return fail(name(i) + " is needed for no output");
    for (size_t r = 0; r < op(i).reads.size(); ++r)
      if (int32_t maker = locals[localRead(i, r)].maker; maker != none)
        needed[maker] = true;
  }
  return true;
}

/// Hands the places of the results of an op on to what it reads.
void Analysis::spread(int32_t position, std::vector<int32_t> &places) const {
  const Op &reader = op(position);
  for (size_t k = 0; k < reader.results.size(); ++k) {
    int32_t result = firstResult[position] + k;
    if (places[result] == unread)
      continue;
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
/// position that has the linear position of the element of \p output being
/// made.
std::vector<int32_t> Analysis::placesFor(int32_t output) const {
  std::vector<int32_t> places(locals.size(), unread);
  places[output] = valueOf(output).shape;
  for (int32_t i = locals[output].maker; i >= 0; --i)
    spread(i, places);
  return places;
}

/// How often the anchor reads the value, reshapes looked through.
int32_t Analysis::readsOfAnchor(int32_t local) const {
  int32_t count = 0;
  for (size_t r = 0; r < op(anchor).reads.size(); ++r) {
    int32_t source = localRead(anchor, r);
    while (locals[source].maker != none)
      source = localRead(locals[source].maker, 0);
    count += source == local;
  }
  return count;
}

void Analysis::findInPlacePairs() {
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

/// What a view shows of a value is what is read of it, so that a slice counts
/// its own bytes.
void Analysis::countBytes() {
  std::vector<int64_t> touched(locals.size(), 0);
  for (int32_t output : outputs) {
    touched[output] = valueOf(output).bytes;
    info.bytesMoved += valueOf(output).bytes;
  }
  for (int32_t i = size - 1; i >= 0; --i)
    for (size_t r = 0; r < op(i).reads.size(); ++r) {
      int32_t source = localRead(i, r);
      int64_t bytes = valueOf(source).bytes;
      int64_t shown =
          op(i).kind == OpKind::View ? touched[firstResult[i]] : bytes;
      touched[source] = std::min(bytes, touched[source] + shown);
    }
  for (size_t i = locals.size() - info.memoryReads.size(); i < locals.size();
       ++i)
    info.bytesMoved += touched[i];
}

void Analysis::countWork() {
  std::vector<int64_t> evaluations(size, 0);
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
      evaluations[maker] = std::max(evaluations[maker], times);
    }
    bool once = isAnchor(op(i)) || elements == 0;
    Wide times = once ? 1 : evaluations[i], of = once ? 1 : elements;
    computePs += op(i).computePs * times / of;
    flops += op(i).flops * times / of;
    info.workspaceBytes += op(i).workspaceBytes;
  }
  Wide memoryPs = Wide(info.bytesMoved) * 1000000 / problem.bytesPerMicrosecond;
  Wide timePs = std::max(computePs, memoryPs) + Wide(problem.launchNs) * 1000;
  info.flops = clampCost(flops);
  info.timeNs = clampCost((timePs + 999) / 1000);
}

} // namespace

KernelInfo ckpt::plan::analyze(const Problem &problem, const Kernel &kernel) {
  return Analysis(problem, kernel).run();
}
