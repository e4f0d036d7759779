//===- SplitMove.cpp - Parts of a value, written beforehand ---------------===//
//
// A kernel that puts a value together computes each part inside, and common
// work once for each of them. One kernel before it may write all parts at once.
// ReduceTime tries it per kernel.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/TimeMoves.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace ckpt::plan;

/// The parts that \p op and its elementwise sources put together, if \p kernel
/// computes all of them inside.
std::vector<ValueId> TimeMoves::partsOf(OpId op, const Kernel &kernel) const {
  int64_t elements = problem.values[problem.ops[op].results[0]].elements;
  std::vector<ValueId> parts;
  std::vector<OpId> work = {op};
  // By place in the kernel: ops of `work`, and ops that others complete.
  std::vector<char> isKnown(kernel.ops.size(), 0), isCompleted = isKnown;
  auto placeOf = [&](OpId id) {
    return std::lower_bound(kernel.ops.begin(), kernel.ops.end(), id) -
           kernel.ops.begin();
  };
  isKnown[placeOf(op)] = isCompleted[placeOf(op)] = 1;
  for (size_t i = 0; i < work.size(); ++i) {
    const std::vector<Read> &reads = problem.ops[work[i]].reads;
    bool joins = isCompleted[placeOf(work[i])] || hasDestination(work[i]);
    for (const Read &read : reads) {
      const Value &v = problem.values[read.value];
      if (!isFusibleIn(v.op, kernel))
        continue;
      if (char &known = isKnown[placeOf(v.op)];
          v.elements == elements && !known) {
        known = 1;
        work.push_back(v.op);
        isCompleted[placeOf(v.op)] |= read.destination;
      } else if (joins && isPart(v, elements) &&
                 std::find(parts.begin(), parts.end(), read.value) ==
                     parts.end()) {
        parts.push_back(read.value);
      }
    }
  }
  counted += work.size();
  return parts;
}

bool TimeMoves::hasDestination(OpId op) const {
  const std::vector<Read> &reads = problem.ops[op].reads;
  return std::any_of(reads.begin(), reads.end(),
                     [](const Read &read) { return read.destination; });
}

bool TimeMoves::isFusibleIn(OpId op, const Kernel &kernel) const {
  return std::binary_search(kernel.ops.begin(), kernel.ops.end(), op) &&
         problem.ops[op].kind == OpKind::Fusible;
}

/// Whether a value of so many elements may be put together from \p value.
bool TimeMoves::isPart(const Value &value, int64_t elements) {
  return 1 < value.elements && value.elements < elements &&
         value.home == Home::Arena && value.keep == Keep::Free;
}

/// The ops of \p kernel that put parts together, the first of several with the
/// same parts: for the others `partsOf` would repeat them. One look at each op;
/// its set is mostly that of its operands.
std::vector<OpId> TimeMoves::joinersOf(const Kernel &kernel) const {
  using Parts = std::vector<ValueId>;
  // The parts of an op's sources: if the reader completes it, and if it is only
  // read.
  std::vector<const Parts *> completed, read;
  std::set<Parts> known = {{}};
  const Parts *const nothing = &*known.begin();
  auto unite = [&](const Parts *left, const Parts *right) {
    if (left == right || right->empty() || left->empty())
      return left->empty() ? right : left;
    Parts both;
    std::set_union(left->begin(), left->end(), right->begin(), right->end(),
                   std::back_inserter(both));
    counted += both.size();
    return &*known.insert(std::move(both)).first;
  };
  std::vector<OpId> joiners;
  std::set<const Parts *> found;
  for (OpId op : kernel.ops) {
    const Parts *inner = nothing;
    Parts own;
    if (!problem.ops[op].results.empty()) {
      int64_t elements = problem.values[problem.ops[op].results[0]].elements;
      for (const Read &r : problem.ops[op].reads) {
        const Value &v = problem.values[r.value];
        if (!isFusibleIn(v.op, kernel))
          continue;
        size_t place =
            std::lower_bound(kernel.ops.begin(), kernel.ops.end(), v.op) -
            kernel.ops.begin();
        if (v.elements == elements)
          inner = unite(inner, (r.destination ? completed : read)[place]);
        else if (isPart(v, elements))
          own.push_back(r.value);
      }
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    completed.push_back(unite(inner, &*known.insert(std::move(own)).first));
    read.push_back(hasDestination(op) ? completed.back() : inner);
    bool isJoiner = problem.ops[op].kind == OpKind::Fusible &&
                    problem.ops[op].results.size() == 1 &&
                    completed.back()->size() > 1;
    if (isJoiner && found.insert(completed.back()).second)
      joiners.push_back(op);
  }
  return joiners;
}

/// Writes the parts that a kernel puts together beforehand, all by one kernel:
/// their common work would run for each of them inside (the halves of random
/// bits).
void TimeMoves::findParts(int32_t place, std::vector<TimeMove> &changes) const {
  const Kernel &kernel = state.kernel(place);
  counted += kernel.ops.size();
  for (OpId op : joinersOf(kernel)) {
    std::vector<ValueId> parts = partsOf(op, kernel);
    if (parts.size() < 2 || isSpent())
      continue;
    Kernel writer = kernel, rest = kernel;
    writer.outputs = parts;
    trim(writer);
    int64_t ns = timeOf(writer), left = 0;
    bool isLegal = ns >= 0;
    for (size_t i = 0; i < parts.size() && isLegal; ++i)
      isLegal = reduce(rest, {parts[i]}, left);
    TimeMove change;
    change.savedNs = state.info(place).timeNs - ns - left;
    if (!isLegal || change.savedNs <= 0)
      continue;
    change.edit.inserted.emplace_back(place, std::move(writer));
    change.edit.replaced.emplace_back(place, std::move(rest));
    changes.push_back(std::move(change));
  }
}
