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
  TimeReducer(const Problem &problem, Plan &plan, int64_t allowedBytes,
              Deadline deadline)
      : problem(problem), plan(plan), allowedBytes(allowedBytes),
        deadline(deadline), kernels(problem),
        verdict(validate(problem, plan, false, kernels)),
        changes(problem, plan, kernels) {}

  bool run();

private:
  std::vector<const TimeMove *>
  compatible(const std::vector<TimeMove> &found) const;
  Plan apply(const std::vector<const TimeMove *> &chosen) const;
  void extend(std::vector<const TimeMove *> &accepted,
              const std::vector<const TimeMove *> &more, int &tries);
  bool isOver() const { return deadline.isOver(); }

  const Problem &problem;
  Plan &plan;
  const int64_t allowedBytes;
  const Deadline deadline;
  KernelCache kernels;
  Verdict verdict;
  TimeMoves changes;
  /// Time of the plan with the accepted moves of a round.
  int64_t bestNs = 0;
};

} // namespace

/// The largest set from the start of the list in which no kernel is changed
/// twice.
std::vector<const TimeMove *>
TimeReducer::compatible(const std::vector<TimeMove> &found) const {
  // Savings of less than this part of the time are left alone.
  constexpr int64_t worthTrying = 100000;
  std::vector<char> isTouched(plan.kernels.size(), 0);
  std::vector<const TimeMove *> chosen;
  for (const TimeMove &change : found) {
    if (change.savedNs < verdict.timeNs / worthTrying)
      break;
    bool isFree = !change.dropped || !isTouched[*change.dropped];
    for (const auto &[index, kernel] : change.replaced)
      isFree &= !isTouched[index];
    for (size_t index : change.moved)
      isFree &= !isTouched[index];
    if (!isFree)
      continue;
    for (size_t index : change.moved)
      isTouched[index] = 1;
    if (change.dropped)
      isTouched[*change.dropped] = 1;
    for (const auto &[index, kernel] : change.replaced)
      isTouched[index] = 1;
    chosen.push_back(&change);
  }
  return chosen;
}

Plan TimeReducer::apply(const std::vector<const TimeMove *> &chosen) const {
  std::vector<const Kernel *> list;
  for (const Kernel &kernel : plan.kernels)
    list.push_back(&kernel);
  std::vector<std::vector<const Kernel *>> added(list.size()),
      behind(list.size());
  for (const TimeMove *change : chosen) {
    for (const auto &[index, kernel] : change->replaced)
      list[index] = &kernel;
    for (size_t index : change->moved) {
      behind[change->behind].push_back(list[index]);
      list[index] = nullptr;
    }
    if (change->dropped)
      list[*change->dropped] = nullptr;
    if (change->added)
      added[change->at].push_back(&*change->added);
  }
  Plan changed;
  for (size_t k = 0; k < list.size(); ++k) {
    for (const Kernel *kernel : added[k])
      changed.kernels.push_back(*kernel);
    if (list[k])
      changed.kernels.push_back(*list[k]);
    for (const Kernel *kernel : behind[k])
      changed.kernels.push_back(*kernel);
  }
  removeDeadOutputs(problem, changed);
  return changed;
}

/// Adds \p more to \p accepted, all or by halves, as far as the simulator
/// agrees and \p tries last.
void TimeReducer::extend(std::vector<const TimeMove *> &accepted,
                         const std::vector<const TimeMove *> &more,
                         int &tries) {
  if (more.empty() || tries-- <= 0 || isOver())
    return;
  std::vector<const TimeMove *> all = accepted;
  all.insert(all.end(), more.begin(), more.end());
  Plan changed = apply(all);
  Verdict next = validate(problem, changed, false, kernels);
  if (next.error.empty() && next.timeNs < bestNs &&
      next.livePeakBytes <= std::max(allowedBytes, verdict.livePeakBytes)) {
    bestNs = next.timeNs;
    accepted = std::move(all);
    return;
  }
  if (more.size() == 1)
    return;
  auto middle = more.begin() + static_cast<std::ptrdiff_t>(more.size() / 2);
  extend(accepted, {more.begin(), middle}, tries);
  extend(accepted, {middle, more.end()}, tries);
}

/// Numbers of kernels hold until the changes of a round are made.
bool TimeReducer::run() {
  constexpr int mostRounds = 40, mostTries = 60;
  bool any = false;
  for (int round = 0; round < mostRounds && verdict.error.empty() && !isOver();
       ++round) {
    std::vector<TimeMove> found = changes.find(verdict, deadline);
    std::vector<const TimeMove *> accepted;
    int tries = mostTries;
    bestNs = verdict.timeNs;
    extend(accepted, compatible(found), tries);
    if (accepted.empty())
      break;
    plan = apply(accepted);
    verdict = validate(problem, plan, false, kernels);
    any = true;
  }
  return any;
}

bool ckpt::plan::reduceTime(const Problem &problem, Plan &plan,
                            int64_t allowedBytes, Deadline deadline) {
  return TimeReducer(problem, plan, allowedBytes, deadline).run();
}
