//===- KeepMove.cpp - Values kept in place of remats ----------------------===//
//
// Each try removes one remat from the state of the plan (PlanState.h) in
// near-logarithmic time, and takes the removal back if the values do not fit.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/KeepMove.h"

#include "Plan/Improve/PlanState.h"
#include "Plan/Model/PlanEdit.h"
#include "Plan/Model/RematGraph.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

class Keeper {
public:
  Keeper(const Problem &problem, Plan plan, int64_t limitBytes,
         KernelCache &kernels);
  bool run(KeepEffort effort, Deadline deadline);
  Plan takePlan() { return state.takePlan(); }

private:
  bool mayStay(ValueId value) const {
    const Value &v = problem.values[value];
    // The backward pass must not read values that it has to make again. Values
    // in the buffer of a result must leave it in time.
    return v.keep != Keep::Recompute && v.host == none && !isHost[value];
  }
  Kernel withoutRemats(int32_t place) const;
  bool isRemat(ValueId value, int32_t place) const {
    return mayStay(value) && state.lifeAt(value, place);
  }
  /// A kernel before wrote it, or nothing reads it.
  bool mayGo(ValueId value, int32_t place) const {
    return isRemat(value, place) || !state.isWanted(value, place);
  }
  bool hasRemat(int32_t place) const {
    const std::vector<ValueId> &outputs = state.kernel(place).outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](ValueId value) { return mayGo(value, place); });
  }
  std::vector<int32_t> lastFirst() const;
  std::vector<int32_t> dearestFirst() const;
  bool keepBefore(int32_t place);
  /// Only the simulator measures regions.
  bool areRegionsWithin() const {
    return problem.regions.empty() ||
           validate(problem, state.plan(), /*slots=*/false, kernels)
               .error.empty();
  }

  const Problem &problem;
  const int64_t limit;
  KernelCache &kernels;
  /// Remats that it may still try though they fit only without their inputs.
  int64_t exactTries = 0;
  /// Per value: another value lies in its buffer.
  std::vector<char> isHost;
  PlanState state;
};

} // namespace

Keeper::Keeper(const Problem &problem, Plan plan, int64_t limitBytes,
               KernelCache &kernels)
    : problem(problem), limit(limitBytes), kernels(kernels),
      isHost(problem.values.size(), 0),
      state(problem, std::move(plan), kernels) {
  for (const Value &value : problem.values)
    if (value.host != none)
      isHost[value.host] = 1;
}

/// The kernel at \p place without outputs that a kernel before wrote or that
/// nothing reads.
Kernel Keeper::withoutRemats(int32_t place) const {
  Kernel rest;
  for (ValueId value : state.kernel(place).outputs)
    if (!mayGo(value, place))
      rest.outputs.push_back(value);
  if (rest.outputs.empty() && mayRepeat(problem, state.kernel(place)))
    return rest;
  rest.ops = state.kernel(place).ops;
  trimOps(problem, rest);
  return rest;
}

/// Lets the values that the kernel at \p place makes again stay in memory until
/// then, if that fits.
bool Keeper::keepBefore(int32_t place) {
  int32_t first = place;
  int64_t slots = 0;
  for (ValueId value : state.kernel(place).outputs)
    if (isRemat(value, place) && state.isWanted(value, place)) {
      first = std::min(first, state.lifeAt(value, place).last());
      slots += arenaBytes(problem, value);
    }
  if (slots > 0 && state.peakBytes(first + 1, place) + slots > limit &&
      exactTries-- <= 0)
    return false;
  // Where a kept value was overwritten, and where it was made again.
  int64_t atFirst = std::max(limit, state.bytesAt(first));
  int64_t atPlace = std::max(limit, state.bytesAt(place));
  // A kernel that loses outputs without readers may need more workspace.
  int64_t anywhere = std::max(limit, state.peakBytes());
  Edit edit;
  edit.replaced.emplace_back(place, withoutRemats(place));
  state.apply(std::move(edit));
  if (state.isLegal() && state.peakBytes(first + 1, place) <= limit &&
      state.bytesAt(first) <= atFirst && state.bytesAt(place) <= atPlace &&
      state.peakBytes() <= anywhere && areRegionsWithin())
    return true;
  state.undo();
  return false;
}

/// From the last place to the first, since a remat that goes takes the kernels
/// with it that ran only for it; anchors first, since they take most time.
std::vector<int32_t> Keeper::lastFirst() const {
  std::vector<int32_t> order;
  for (bool onlyAnchors : {true, false})
    for (int32_t place = state.size(); place-- > 0;)
      if (!onlyAnchors || state.info(place).anchor != none)
        order.push_back(place);
  return order;
}

/// The places of remats that save most time first.
std::vector<int32_t> Keeper::dearestFirst() const {
  std::vector<std::pair<int64_t, int32_t>> saved;
  for (int32_t place = 0; place < state.size(); ++place) {
    if (!hasRemat(place))
      continue;
    Kernel rest = withoutRemats(place);
    int64_t ns = rest.ops.empty() ? 0 : kernels.get(rest).timeNs;
    saved.emplace_back(ns - state.info(place).timeNs, place);
  }
  std::sort(saved.begin(), saved.end());
  std::vector<int32_t> order;
  for (auto [ns, place] : saved)
    order.push_back(place);
  return order;
}

bool Keeper::run(KeepEffort effort, Deadline deadline) {
  // Places in all exact tries.
  constexpr int64_t mostPlaces = 5'000'000;
  bool isExact = effort == KeepEffort::Exact;
  exactTries = isExact ? mostPlaces / std::max(1, state.size()) : 0;
  bool any = false;
  for (int32_t place : isExact ? dearestFirst() : lastFirst()) {
    if (deadline.isOver())
      break;
    if (hasRemat(place))
      any |= keepBefore(place);
  }
  return any;
}

bool ckpt::plan::keepValues(const Problem &problem, Plan &plan,
                            int64_t limitBytes, KeepEffort effort,
                            Deadline deadline) {
  KernelCache kernels(problem);
  return keepValues(problem, plan, limitBytes, effort, kernels, deadline);
}

bool ckpt::plan::keepValues(const Problem &problem, Plan &plan,
                            int64_t limitBytes, KeepEffort effort,
                            KernelCache &kernels, Deadline deadline) {
  Keeper keeper(problem, std::move(plan), limitBytes, kernels);
  bool any = keeper.run(effort, deadline);
  plan = keeper.takePlan();
  return any;
}
