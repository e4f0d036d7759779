//===- ReduceTime.cpp - Values shared or joined after the fact ------------===//
//
// A walk prices values inside kernels by estimates. It cannot see that five
// kernels in a row will each read a whole embedding table, that two readers
// would compute a sum faster than it is written and read, or that a weight
// gradient could wait for the update that ends the step. The finished list has
// exact costs, so the best of such moves can be found one by one; the simulator
// says whether the peak allows them. The portfolio calls it on its best plans.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/ReduceTime.h"

#include "Plan/Improve/TimeMoves.h"
#include "Plan/Model/PlanEdit.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

class TimeReducer {
public:
  TimeReducer(const Problem &problem, Plan plan, int64_t allowedBytes,
              Deadline deadline, KernelCache &kernels)
      : problem(problem), allowedBytes(allowedBytes), deadline(deadline),
        kernels(kernels), state(problem, std::move(plan), kernels),
        changes(problem, state, kernels) {}

  bool run();
  Plan takePlan() { return state.takePlan(); }

private:
  using Moves = std::vector<const TimeMove *>;

  Moves compatible(const std::vector<TimeMove> &found) const;
  bool isBetter(const Moves &chosen);
  void extend(Moves &accepted, const Moves &more, int &tries);
  bool isOver() const { return deadline.isOver(); }

  const Problem &problem;
  const int64_t allowedBytes;
  const Deadline deadline;
  KernelCache &kernels;
  PlanState state;
  TimeMoves changes;
  /// Of the plan before a round, or the budget if that is more.
  int64_t mostBytes = 0;
  /// Time of the plan with the accepted moves of a round.
  int64_t bestNs = 0;
};

} // namespace

/// The largest set from the start of the list in which no kernel is changed
/// twice.
TimeReducer::Moves
TimeReducer::compatible(const std::vector<TimeMove> &found) const {
  // Savings of less than this part of the time are left alone.
  constexpr int64_t worthTrying = 100000;
  std::vector<char> isTouched(state.size(), 0);
  Moves chosen;
  for (const TimeMove &change : found) {
    if (change.savedNs < state.timeNs() / worthTrying)
      break;
    const Edit::Kernels &replaced = change.edit.replaced;
    if (std::any_of(replaced.begin(), replaced.end(),
                    [&](const auto &each) { return isTouched[each.first]; }))
      continue;
    for (const auto &[place, kernel] : replaced)
      isTouched[place] = 1;
    chosen.push_back(&change);
  }
  return chosen;
}

static Edit editOf(const std::vector<const TimeMove *> &chosen) {
  Edit edit;
  for (const TimeMove *change : chosen)
    edit.add(change->edit);
  return edit;
}

/// Whether the plan is better with \p chosen than with the accepted moves.
bool TimeReducer::isBetter(const Moves &chosen) {
  state.apply(editOf(chosen));
  int64_t ns = state.timeNs();
  bool better = state.isLegal() && ns < bestNs &&
                state.peakBytes() <= mostBytes &&
                validate(problem, state.plan(), false, kernels).error.empty();
  if (better)
    bestNs = ns;
  state.undo();
  return better;
}

/// Adds \p more to \p accepted, all or by halves, as far as the plan gets
/// better and \p tries last.
void TimeReducer::extend(Moves &accepted, const Moves &more, int &tries) {
  if (more.empty() || tries-- <= 0 || isOver())
    return;
  Moves all = accepted;
  all.insert(all.end(), more.begin(), more.end());
  if (isBetter(all)) {
    accepted = std::move(all);
    return;
  }
  if (more.size() == 1)
    return;
  auto middle = more.begin() + static_cast<std::ptrdiff_t>(more.size() / 2);
  extend(accepted, {more.begin(), middle}, tries);
  extend(accepted, {middle, more.end()}, tries);
}

/// Places hold until the moves of a round are made.
bool TimeReducer::run() {
  constexpr int mostRounds = 40, mostTries = 60;
  bool any = false;
  for (int round = 0; round < mostRounds && !isOver(); ++round) {
    std::vector<TimeMove> found = changes.find(deadline);
    Moves accepted;
    int tries = mostTries;
    bestNs = state.timeNs();
    mostBytes = std::max(allowedBytes, state.peakBytes());
    extend(accepted, compatible(found), tries);
    if (accepted.empty())
      break;
    state.apply(editOf(accepted));
    state.compact();
    any = true;
  }
  return any;
}

bool ckpt::plan::reduceTime(const Problem &problem, Plan &plan,
                            int64_t allowedBytes, Deadline deadline) {
  KernelCache kernels(problem);
  if (!validate(problem, plan, /*slots=*/false, kernels).error.empty())
    return false;
  TimeReducer reducer(problem, std::move(plan), allowedBytes, deadline,
                      kernels);
  bool any = reducer.run();
  plan = reducer.takePlan();
  return any;
}
