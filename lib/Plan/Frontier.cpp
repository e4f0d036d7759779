//===- Frontier.cpp - Plans for many budgets from one pool ----------------===//

#include "ckpt/Plan/Frontier.h"
#include "Search.h"
#include "ckpt/Plan/Budget.h"

#include <algorithm>
#include <cmath>

using namespace ckpt::plan;

namespace {

class FrontierSearch {
public:
  FrontierSearch(const Problem &problem, int32_t points,
                 const SolverOptions &options)
      : problem(problem), count(std::max(points, 2)), options(options),
        bound(problem) {}
  Frontier run();

private:
  void search(int64_t budgetBytes, int64_t timeLimitMs);
  void chooseBudgets();
  void planBudgets();
  void choosePlans();
  bool isClosed(int64_t budgetBytes) const;
  int64_t remainingMs() const { return options.timeLimitMs - watch.ms(); }

  const Problem &problem;
  const int32_t count;
  const SolverOptions &options;
  Bound bound;
  Stopwatch watch;
  Frontier frontier;
  /// By their live bytes, and without slots: the walks make far more plans than
  /// there are points, and placing slots takes time.
  PlanPool drafts;
  /// By their arenas.
  PlanPool placed;
  /// Ascending.
  std::vector<int64_t> budgets;
};

} // namespace

/// Everything that a search for one budget makes goes into the pools.
void FrontierSearch::search(int64_t budgetBytes, int64_t timeLimitMs) {
  SolverOptions single = options;
  single.progress = nullptr;
  single.timeLimitMs = timeLimitMs;
  single.onPlan = [&](const Plan &plan, const Verdict &verdict) {
    drafts.add(verdict.livePeakBytes, {plan, verdict});
  };
  BudgetResult result = solveBudget(problem, budgetBytes, single);
  if (!result.smallest.plan.kernels.empty())
    placed.add(result.smallest.plan.arenaBytes, std::move(result.smallest));
  if (result.best)
    placed.add(result.best->plan.arenaBytes, std::move(*result.best));
}

void FrontierSearch::chooseBudgets() {
  int64_t largest = frontier.baseline.plan.arenaBytes;
  int64_t smallest = placed.plans().begin()->first;
  if (smallest >= largest) {
    budgets = {largest};
    return;
  }
  double ratio = std::log(static_cast<double>(largest) /
                          static_cast<double>(std::max<int64_t>(smallest, 1)));
  for (int32_t i = 0; i < count; ++i) {
    double share = static_cast<double>(i) / (count - 1);
    double bytes = static_cast<double>(std::max<int64_t>(smallest, 1)) *
                   std::exp(ratio * share);
    budgets.push_back(
        std::clamp(static_cast<int64_t>(bytes), smallest, largest));
  }
  budgets.front() = smallest;
  budgets.back() = largest;
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
}

/// Nothing is left to gain where a plan is as fast as the one without a limit
/// and does no more work than the bound.
bool FrontierSearch::isClosed(int64_t budgetBytes) const {
  const Solution *known = placed.fastestWithin(budgetBytes);
  return known && known->verdict.timeNs <= frontier.baseline.verdict.timeNs &&
         known->verdict.extraFlops <= bound.extraFlops(budgetBytes);
}

/// From loose to tight, each with an equal share of the time that is left.
void FrontierSearch::planBudgets() {
  for (size_t left = budgets.size(); left-- > 0;) {
    if (isClosed(budgets[left]))
      continue;
    int64_t slice = 0;
    if (options.timeLimitMs > 0) {
      if (remainingMs() <= 0)
        return;
      slice =
          std::max<int64_t>(1, remainingMs() / static_cast<int64_t>(left + 1));
    }
    if (options.progress)
      options.progress("planning for " + formatBytes(budgets[left]) + ", " +
                       std::to_string(left) + " budgets left");
    search(budgets[left], slice);
  }
}

/// Places what the points need. A draft whose slots exceed what it has live may
/// miss a budget: then the next one is asked.
void FrontierSearch::choosePlans() {
  budgets.front() = std::min(budgets.front(), placed.plans().begin()->first);
  for (size_t i = budgets.size(); i-- > 0;) {
    int64_t budget = budgets[i];
    const Solution *best = placed.fastestWithin(budget);
    for (const Solution *draft = drafts.fastestWithin(budget);
         draft && (!best || draft->verdict.timeNs < best->verdict.timeNs);
         draft = drafts.fastestWithin(budget)) {
      Solution solution =
          placeSlots(problem, {draft->plan, draft->verdict}, budget);
      drafts.remove(draft);
      if (solution.verdict.error.empty())
        placed.add(solution.plan.arenaBytes, std::move(solution));
      best = placed.fastestWithin(budget);
    }
  }
  for (int64_t budget : budgets)
    frontier.points.push_back(
        {budget, *placed.fastestWithin(budget), bound.extraFlops(budget)});
}

Frontier FrontierSearch::run() {
  frontier.written = asWritten(problem);
  frontier.minimumBoundBytes = bound.minimumBytes();
  frontier.baseline = solveUnlimited(problem, options);
  frontier.error = frontier.baseline.verdict.error;
  if (!frontier.error.empty() || problem.ops.empty())
    return std::move(frontier);
  placed.add(frontier.baseline.plan.arenaBytes, frontier.baseline);
  // The share of the time that the search for the smallest plan may take.
  constexpr int64_t smallestPart = 5;
  if (frontier.minimumBoundBytes < frontier.baseline.plan.arenaBytes)
    search(frontier.minimumBoundBytes,
           options.timeLimitMs > 0
               ? std::max<int64_t>(1, options.timeLimitMs / smallestPart)
               : 0);
  chooseBudgets();
  planBudgets();
  choosePlans();
  frontier.planningMs = watch.ms();
  return std::move(frontier);
}

Frontier ckpt::plan::solveFrontier(const Problem &problem, int32_t points,
                                   const SolverOptions &options) {
  return FrontierSearch(problem, points, options).run();
}
