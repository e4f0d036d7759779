//===- LowerBudgets.cpp - Searches of slightly smaller budgets ------------===//
//
// The first plan of a search decides where it ends: a few bytes less lead to
// other plans, often to better ones. Small steps leave time to look at them.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/Anneal/RetentionAnnealing.h"
#include "Plan/Improve/KeepMove.h"
#include "Plan/Improve/MergeMove.h"
#include "Plan/Improve/ReduceTime.h"
#include "Plan/Portfolio/BudgetSearch.h"

#include <array>

using namespace ckpt::plan;

/// For the remaining time: plans of smaller budgets, which then use the whole
/// budget to drop remats.
void BudgetSearch::searchBelow() {
  static constexpr std::array<double, 4> shares = {0.97, 0.94, 0.9, 0.84};
  // Nearer to the least time there is nothing to gain, and nothing is found in
  // so small a part of the time.
  constexpr double worthSearching = 1.01;
  constexpr double part = 2.0 / 3, leastPart = 0.1;
  Running running(*this, part::lowerBudgets);
  if (!running || !clock.isLimited() || !options.fusion ||
      hasFixedKernels(problem))
    return;
  for (double share : shares) {
    // A search that finds nothing at first takes half as long again.
    if (isProven || (1 - clock.share()) * part < leastPart ||
        bestScore <= worthSearching * leastNs)
      return;
    SolverOptions rest = clock.rest(options, part);
    auto bytes = static_cast<int64_t>(share * static_cast<double>(budget));
    BudgetSearch below(problem, bytes, rest, &unlimited);
    below.isPart = true;
    BudgetResult lower = below.run();
    result.stoppedByClock |= lower.stoppedByClock;
    if (!lower.best)
      return;
    Plan plan = withoutSlots(lower.best->plan);
    enterPlan(plan);
    keepValues(problem, plan, budget, KeepEffort::Exact,
               deadline(shareOfLimit));
    mergeKernels(problem, plan, budget);
    reduceTime(problem, plan, budget, deadline(shareOfLimit));
    enterPlan(std::move(plan));
  }
}
