//===- MergeMove.cpp - Elementwise kernels inside earlier ones ------------===//
//
// The walk writes one kernel per anchor or materialised value. An elementwise
// consumer of an anchor, and elementwise kernels of one shape, can join it: the
// raw value need not stand in memory (weight gradients before their update),
// and shared operands are read once. Each try merges two kernels in the state
// of the plan (PlanState.h). Constructions and moves call it on every draft.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/MergeMove.h"

#include "Plan/Improve/PlanState.h"
#include "Plan/Model/PlanEdit.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

/// Merges elementwise kernels into earlier ones, in sweeps over the places of a
/// state. A merged kernel runs at the place of the earlier.
class Merger {
public:
  Merger(const Problem &problem, const Plan &plan, KernelCache &kernels);
  /// One sweep. Kernels with more than \p limitBytes get no more. Returns
  /// whether any kernels merged.
  bool sweep(int64_t limitBytes);
  int64_t peakBytes() const { return state.peakBytes(); }
  Plan takePlan() { return state.takePlan(); }

private:
  bool isElementwise(int32_t place) const {
    return !state.isEmpty(place) && state.info(place).anchor == none;
  }
  std::vector<int32_t> earlierFor(int32_t place) const;
  bool staysBelow(int64_t limitBytes, int32_t first, int32_t last,
                  const std::vector<int64_t> &before) const;
  bool tryMerge(int32_t first, int32_t second, int64_t limitBytes);
  bool runsBackward(int32_t place) const;
  bool mayHoist(int32_t first, int32_t second) const;
  Kernel unite(int32_t first, int32_t second) const;

  const Problem &problem;
  KernelCache &kernels;
  PlanState state;
  bool ordersPasses = false;
};

} // namespace

Merger::Merger(const Problem &problem, const Plan &plan, KernelCache &kernels)
    : problem(problem), kernels(kernels), state(problem, plan, kernels) {
  for (const Value &value : problem.values)
    ordersPasses |= value.keep == Keep::Recompute;
}

/// Whether one of \p places lies from \p first to before \p end.
static bool isAnyIn(const std::vector<int32_t> &places, int32_t first,
                    int32_t end) {
  auto found = std::lower_bound(places.begin(), places.end(), first);
  return found != places.end() && *found < end;
}

bool Merger::runsBackward(int32_t place) const {
  const std::vector<OpId> &ops = state.kernel(place).ops;
  return std::any_of(ops.begin(), ops.end(),
                     [&](OpId op) { return problem.ops[op].backward; });
}

/// Whether the reads of \p second are there when \p first runs, and its outputs
/// do not disturb a kernel in between.
bool Merger::mayHoist(int32_t first, int32_t second) const {
  const Kernel &kernel = state.kernel(second);
  for (OpId op : kernel.ops)
    if (problem.ops[op].hasEffects)
      return false;
  if (ordersPasses && runsBackward(first) != runsBackward(second))
    return false;
  for (ValueId value : state.info(second).memoryReads)
    if (isAnyIn(state.writes(value), first + 1, second))
      return false;
  for (ValueId value : kernel.outputs)
    if (isAnyIn(state.writes(value), first, second) ||
        isAnyIn(state.reads(value), first, second))
      return false;
  return true;
}

/// The kernel of both, without outputs of \p first that only \p second reads.
Kernel Merger::unite(int32_t first, int32_t second) const {
  const Kernel &a = state.kernel(first), &b = state.kernel(second);
  Kernel both;
  std::set_union(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(),
                 std::back_inserter(both.ops));
  for (ValueId value : a.outputs) {
    const Value &v = problem.values[value];
    Life life = state.lifeFrom(value, first);
    bool onlyHere = v.home == Home::Arena && v.keep != Keep::Save &&
                    life.numReads() == 1 && life.last() == second;
    if (!onlyHere)
      both.outputs.push_back(value);
  }
  both.outputs.insert(both.outputs.end(), b.outputs.begin(), b.outputs.end());
  return both;
}

/// Whether no place from \p first to \p last exceeds \p limitBytes and its
/// bytes \p before, which are empty if no place exceeded it then.
bool Merger::staysBelow(int64_t limitBytes, int32_t first, int32_t last,
                        const std::vector<int64_t> &before) const {
  if (before.empty())
    return state.peakBytes(first, last + 1) <= limitBytes;
  for (int32_t place = first; place <= last; ++place)
    if (state.bytesAt(place) > std::max(limitBytes, before[place - first]))
      return false;
  return true;
}

/// Merges both kernels if that saves time and no place rises above
/// \p limitBytes.
bool Merger::tryMerge(int32_t first, int32_t second, int64_t limitBytes) {
  // Beyond this, kernels gain nothing more, and to analyze them takes long.
  constexpr size_t mostOutputs = 32, mostOps = 512;
  const Kernel &a = state.kernel(first), &b = state.kernel(second);
  if (a.outputs.size() + b.outputs.size() > mostOutputs ||
      a.ops.size() + b.ops.size() > mostOps || !mayHoist(first, second))
    return false;
  Kernel both = unite(first, second);
  if (both.outputs.empty())
    return false;
  const KernelInfo &info = kernels.get(both);
  if (!info.error.empty() ||
      info.timeNs >= state.info(first).timeNs + state.info(second).timeNs)
    return false;
  std::vector<int64_t> before;
  if (state.peakBytes(first, second + 1) > limitBytes)
    for (int32_t place = first; place <= second; ++place)
      before.push_back(state.bytesAt(place));
  Edit edit;
  edit.replaced.emplace_back(first, std::move(both));
  edit.replaced.emplace_back(second, Kernel());
  state.apply(std::move(edit));
  bool fits = state.isLegal() && staysBelow(limitBytes, first, second, before);
  if (!fits)
    state.undo();
  return fits;
}

/// Earlier places whose kernels the one at \p place may join, the last first:
/// makers and elementwise readers of its operands, and its neighbour.
std::vector<int32_t> Merger::earlierFor(int32_t place) const {
  std::vector<int32_t> earlier;
  auto lastBefore = [&](const std::vector<int32_t> &places) {
    auto found = std::lower_bound(places.begin(), places.end(), place);
    return found == places.begin() ? none : *(found - 1);
  };
  for (ValueId value : state.info(place).memoryReads) {
    if (int32_t writer = lastBefore(state.writes(value)); writer != none)
      earlier.push_back(writer);
    int32_t reader = lastBefore(state.reads(value));
    if (reader != none && isElementwise(reader))
      earlier.push_back(reader);
  }
  int32_t before = place - 1;
  while (before > 0 && state.isEmpty(before))
    --before;
  if (isElementwise(before))
    earlier.push_back(before);
  std::sort(earlier.rbegin(), earlier.rend());
  earlier.erase(std::unique(earlier.begin(), earlier.end()), earlier.end());
  return earlier;
}

bool Merger::sweep(int64_t limitBytes) {
  bool any = false;
  for (int32_t place = 1; place < state.size(); ++place) {
    if (!isElementwise(place))
      continue;
    std::vector<int32_t> earlier = earlierFor(place);
    any |= std::any_of(earlier.begin(), earlier.end(), [&](int32_t first) {
      return tryMerge(first, place, limitBytes);
    });
  }
  return any;
}

Verdict ckpt::plan::mergeKernels(const Problem &problem, Plan &plan,
                                 int64_t limitBytes) {
  KernelCache kernels(problem);
  return mergeKernels(problem, plan, limitBytes, kernels);
}

Verdict ckpt::plan::mergeKernels(const Problem &problem, Plan &plan,
                                 int64_t limitBytes, KernelCache &kernels) {
  removeDeadOutputs(problem, plan);
  Verdict verdict = validate(problem, plan, false, kernels);
  if (!verdict.error.empty())
    return verdict;
  Merger merger(problem, plan, kernels);
  auto merge = [&](bool mayExceed) {
    constexpr int mostSweeps = 4;
    for (int i = 0; i < mostSweeps; ++i) {
      int64_t most = std::max(limitBytes, merger.peakBytes());
      if (!merger.sweep(mayExceed ? most : limitBytes))
        return;
    }
  };
  // A live sum above the limit may still be mended, as long as no other one
  // rises above it.
  if (limitBytes > 0 && verdict.livePeakBytes > limitBytes)
    merge(/*mayExceed=*/false);
  merge(/*mayExceed=*/true);
  Plan merged = merger.takePlan();
  Verdict next = validate(problem, merged, false, kernels);
  if (!next.error.empty())
    return verdict;
  plan = std::move(merged);
  return next;
}
