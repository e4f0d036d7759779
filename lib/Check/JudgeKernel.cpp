//===- JudgeKernel.cpp - The rules for one kernel, and its cost -----------===//
//
// Follows the prose of docs/Rationale/MemoryModel.md with sets and maps.
//
//===----------------------------------------------------------------------===//

#include "Replay.h"

#include <algorithm>

using namespace ckpt::check;

namespace {

constexpr int elsewhere = -1;

class Judge {
public:
  Judge(const Step &step, const StepKernel &kernel, KernelFacts &facts,
        Refusal &refusal)
      : step(step), kernel(kernel), facts(facts), refusal(refusal),
        inside(kernel.ops.begin(), kernel.ops.end()) {}

  bool run();

private:
  const StepOp &op(int id) const { return step.ops[id]; }
  const StepValue &value(int id) const { return step.values[id]; }
  bool require(bool holds, const std::string &rule) {
    return refusal.require(holds, rule);
  }
  bool madeInside(int id) const { return inside.count(value(id).op); }
  /// Ops from the last to the first, so that readers come first.
  std::vector<int> backwards() const {
    return {inside.rbegin(), inside.rend()};
  }

  bool checkLists();
  bool checkNeeds();
  bool checkEpilogue();
  bool checkOutputs();
  bool checkAllNeeded();
  int sameInside(int view) const;
  void spread(int id, std::map<int, int> &places) const;
  int readsOfAnchor(int id) const;
  bool mayOverwrite(int input, size_t output,
                    const std::vector<std::map<int, int>> &places) const;
  void findInPlace();
  int64_t gathered(const StepOp &reader, const StepValue &source) const;
  int64_t bytesMoved() const;
  void countWork();

  const Step &step;
  const StepKernel &kernel;
  KernelFacts &facts;
  Refusal &refusal;
  const std::set<int> inside;
  int anchor = -1;
  /// For the anchor and each op that depends on it: the last view and the last
  /// permutation on the way; -1 if there is none.
  std::map<int, int> lastView, lastPermute;
};

bool Judge::checkLists() {
  if (!require(!kernel.ops.empty(), "a kernel without ops"))
    return false;
  for (size_t i = 1; i < kernel.ops.size(); ++i)
    if (!require(kernel.ops[i - 1] < kernel.ops[i], "ops are not ascending"))
      return false;
  std::set<int> written;
  for (int output : kernel.outputs) {
    if (!require(madeInside(output), "an output is not made inside"))
      return false;
    if (!require(written.insert(output).second, "an output is written twice"))
      return false;
  }
  for (int id : kernel.ops) {
    if (!require(!op(id).isAnchor() || anchor == -1,
                 "two anchors in one kernel"))
      return false;
    if (op(id).isAnchor())
      anchor = id;
    for (const StepRead &read : op(id).reads)
      if (!madeInside(read.value))
        facts.memoryReads.insert(read.value);
  }
  return true;
}

/// Whether a view shows a value in memory in one piece.
static bool isInOnePiece(const StepRead &read) {
  return read.access == "reshape" || read.access == "stretch";
}

bool Judge::checkNeeds() {
  for (int id : kernel.ops)
    for (const StepRead &read : op(id).reads) {
      if (read.need == "inline")
        continue;
      for (int at = read.value; madeInside(at);) {
        const StepOp &maker = op(value(at).op);
        if (!require(maker.isView() && (read.need == "memory" ||
                                        isInOnePiece(maker.reads[0])),
                     "op " + std::to_string(id) + " needs value " +
                         std::to_string(read.value) + " in memory"))
          return false;
        at = maker.reads[0].value;
      }
    }
  if (anchor == -1 || op(anchor).kind != "opaque")
    return true;
  for (int id : kernel.ops)
    if (!require(id == anchor ||
                     (op(id).isView() && isInOnePiece(op(id).reads[0])),
                 "something stands in one kernel with an opaque op"))
      return false;
  return true;
}

bool Judge::checkEpilogue() {
  if (anchor == -1)
    return true;
  lastView[anchor] = lastPermute[anchor] = -1;
  for (int id : kernel.ops) {
    if (id <= anchor)
      continue;
    for (const StepRead &read : op(id).reads) {
      int maker = value(read.value).op;
      if (!madeInside(read.value) || !lastView.count(maker))
        continue;
      bool view = op(id).isView() &&
                  (read.access == "reshape" || read.access == "permute");
      if (!require(read.access == "pointwise" || view,
                   "op " + std::to_string(id) +
                       " reads a value that depends on the anchor, but not one "
                       "to one"))
        return false;
      if (!require(!lastView.count(id) || lastView[id] == lastView[maker],
                   "op " + std::to_string(id) +
                       " reads a value that depends on the anchor through "
                       "different views"))
        return false;
      lastView[id] = lastView[maker];
      lastPermute[id] = lastPermute[maker];
    }
    if (!op(id).isView() || !lastView.count(id))
      continue;
    lastView[id] = id;
    if (op(id).reads[0].access == "permute")
      lastPermute[id] = id;
  }
  return true;
}

bool Judge::checkOutputs() {
  bool effects = anchor != -1 && op(anchor).effects;
  if (!require(effects || !kernel.outputs.empty(), "a kernel without outputs"))
    return false;
  for (int output : kernel.outputs) {
    int maker = value(output).op;
    if (anchor == -1) {
      if (!require(value(output).shape == value(kernel.outputs[0]).shape,
                   "outputs of several shapes without an anchor"))
        return false;
      continue;
    }
    if (!require(lastView.count(maker),
                 "an output does not depend on the anchor"))
      return false;
    if (!require(maker == anchor || op(anchor).kind != "opaque",
                 "an output is made after an opaque op"))
      return false;
  }
  return true;
}

bool Judge::checkAllNeeded() {
  std::set<int> needed;
  for (int output : kernel.outputs)
    needed.insert(value(output).op);
  if (anchor != -1 && op(anchor).effects)
    needed.insert(anchor);
  for (int id : backwards()) {
    if (!require(needed.count(id),
                 "op " + std::to_string(id) + " is needed for no output"))
      return false;
    for (const StepRead &read : op(id).reads)
      if (madeInside(read.value))
        needed.insert(value(read.value).op);
  }
  return true;
}

/// `same` of the result of a view if the way there is inside; else -1.
int Judge::sameInside(int view) const {
  int64_t same = value(op(view).results[0]).same;
  int at = op(view).reads[0].value;
  while (same != -1 && at != same) {
    if (!madeInside(at) || !op(value(at).op).isView())
      return -1;
    at = op(value(at).op).reads[0].value;
  }
  return static_cast<int>(same);
}

/// Notes for each read of \p id the coordinates of its elements that make one
/// element of an output; `elsewhere` if these are others or several.
void Judge::spread(int id, std::map<int, int> &places) const {
  const StepOp &reader = op(id);
  auto enter = [&](int source, int place) {
    auto [at, first] = places.emplace(source, place);
    if (!first && at->second != place)
      at->second = elsewhere;
  };
  for (size_t k = 0; k < reader.results.size(); ++k) {
    int result = reader.results[k];
    if (!places.count(result))
      continue;
    int here = places[result];
    if (int same = reader.isView() ? sameInside(id) : -1; same != -1) {
      enter(same, here);
      continue;
    }
    size_t destinations = 0;
    for (const StepRead &read : reader.reads) {
      bool isOwn = read.destination && destinations == k;
      bool isOther = read.destination && !isOwn;
      destinations += read.destination;
      if (reader.isAnchor()) {
        if (!isOther)
          enter(read.value,
                isOwn && (read.access == "pointwise" || reader.kind == "opaque")
                    ? here
                    : elsewhere);
      } else if (read.access == "pointwise" || read.access == "aligned") {
        enter(read.value, here);
      } else if (read.access == "reshape" && here == value(result).shape) {
        enter(read.value, static_cast<int>(value(read.value).shape));
      } else {
        enter(read.value, elsewhere);
      }
    }
  }
}

/// How often the anchor reads the value, reshapes looked through.
int Judge::readsOfAnchor(int id) const {
  int count = 0;
  for (const StepRead &read : op(anchor).reads) {
    int at = read.value;
    while (madeInside(at))
      at = op(value(at).op).reads[0].value;
    count += at == id;
  }
  return count;
}

bool Judge::mayOverwrite(int input, size_t output,
                         const std::vector<std::map<int, int>> &places) const {
  const StepValue &source = value(input),
                  &target = value(kernel.outputs[output]);
  auto stands = [&](size_t j) {
    auto found = places[j].find(input);
    return found != places[j].end() && found->second == source.shape;
  };
  auto permutation = [&](size_t j) {
    auto found = lastPermute.find(value(kernel.outputs[j]).op);
    return found == lastPermute.end() ? -1 : found->second;
  };
  if (source.bytes != target.bytes || source.elements != target.elements ||
      !stands(output))
    return false;
  for (size_t j = 0; j < kernel.outputs.size(); ++j)
    if (places[j].count(input) &&
        (!stands(j) || permutation(j) != permutation(output)))
      return false;
  return true;
}

void Judge::findInPlace() {
  bool isOpaque = anchor != -1 && op(anchor).kind == "opaque";
  if (!step.takesOver && !isOpaque)
    return;
  std::vector<std::map<int, int>> places;
  for (int output : kernel.outputs) {
    places.emplace_back()[output] = static_cast<int>(value(output).shape);
    for (int id : backwards())
      if (id <= value(output).op)
        spread(id, places.back());
  }
  for (int input : facts.memoryReads) {
    if (isOpaque && readsOfAnchor(input) > 1)
      continue;
    for (size_t k = 0; k < kernel.outputs.size(); ++k)
      if (mayOverwrite(input, k, places))
        facts.inPlace.insert({input, static_cast<int>(k)});
  }
}

/// One element for each that the op makes.
int64_t Judge::gathered(const StepOp &reader, const StepValue &source) const {
  int64_t elements = 0;
  for (int result : reader.results)
    elements = std::max(elements, value(result).elements);
  if (source.elements <= elements)
    return source.bytes;
  int64_t each = source.bytes / source.elements;
  each += source.bytes % source.elements != 0;
  return std::min(source.bytes, each * elements);
}

/// The bytes read of a value count per read, at most all of it; of a view only
/// the bytes that it shows.
int64_t Judge::bytesMoved() const {
  std::map<int, int64_t> touched;
  int64_t sum = 0;
  for (int output : kernel.outputs)
    sum += touched[output] = value(output).bytes;
  for (int id : backwards())
    for (const StepRead &read : op(id).reads) {
      int64_t whole = value(read.value).bytes;
      int64_t shown = op(id).isView() ? touched[op(id).results[0]]
                      : op(id).kind == "fusible" && read.access == "gather"
                          ? gathered(op(id), value(read.value))
                          : whole;
      touched[read.value] = std::min(whole, touched[read.value] + shown);
    }
  for (int input : facts.memoryReads)
    sum += touched[input];
  return sum;
}

/// Whether the smaller is half of the larger, roughly; readers share a single
/// element.
static bool isHalfOrMore(int64_t one, int64_t other) {
  int64_t part = std::min(one, other), whole = std::max(one, other);
  return part > 1 && part >= whole / 5 * 2;
}

void Judge::countWork() {
  // Readers at the same coordinates share elements; readers of halves and of
  // elements looked up do not.
  std::map<int, int64_t> evaluations, apart;
  constexpr int64_t limit = INT64_MAX / 64;
  auto raise = [&](int id, int64_t times) {
    evaluations[id] = std::max(evaluations[id], times);
  };
  for (int output : kernel.outputs)
    raise(value(output).op, value(output).elements);
  Wide computePs = 0;
  for (int id : backwards()) {
    int64_t elements = 0;
    for (int result : op(id).results)
      elements = std::max(elements, value(result).elements);
    int64_t iterations = elements;
    int64_t &times = evaluations[id];
    times = std::min(times + apart[id], limit);
    for (const StepRead &read : op(id).reads)
      iterations = std::max(iterations, value(read.value).elements);
    for (const StepRead &read : op(id).reads)
      if (madeInside(read.value) && !op(id).isAnchor() &&
          (read.access == "gather" ||
           ((read.access == "any" || read.access == "stretch") &&
            isHalfOrMore(elements, value(read.value).elements))))
        apart[value(read.value).op] =
            std::min(apart[value(read.value).op] + times, limit);
      else if (madeInside(read.value))
        raise(value(read.value).op, !op(id).isAnchor() ? times
                                    : read.destination ? elements
                                                       : iterations);
    bool once = op(id).isAnchor() || elements == 0;
    computePs += once ? Wide(op(id).computePs)
                      : Wide(op(id).computePs) * evaluations[id] / elements;
    facts.workspaceBytes += op(id).workspaceBytes;
    // A loop needs a place for all that it makes.
    for (int result : op(id).results)
      if (op(id).kind == "opaque" &&
          std::find(kernel.outputs.begin(), kernel.outputs.end(), result) ==
              kernel.outputs.end())
        facts.workspaceBytes += slotBytes(value(result).bytes);
  }
  Wide memoryPs = Wide(bytesMoved()) * 1000000 / step.bytesPerMicrosecond;
  Wide timePs = std::max(computePs, memoryPs) + Wide(step.launchNs) * 1000;
  // Costs beyond this are all alike.
  facts.timeNs =
      static_cast<int64_t>(std::min((timePs + 999) / 1000, Wide(limit)));
}

bool Judge::run() {
  if (!checkLists() || !checkNeeds() || !checkEpilogue() || !checkOutputs() ||
      !checkAllNeeded())
    return false;
  findInPlace();
  countWork();
  return true;
}

} // namespace

bool ckpt::check::judgeKernel(const Step &step, const StepKernel &kernel,
                              KernelFacts &facts, Refusal &refusal) {
  return Judge(step, kernel, facts, refusal).run();
}
