//===- Solvers.h - Everything that makes plans ------------------*- C++ -*-===//
//
// Solvers read a Problem and return plans with slots placed. They obey
// `Value::keep`, `Op::mayRepeat` and the order of effects, and are
// deterministic: effort is limited by counted work; the clock only stops
// between rounds. Budgets of regions are obeyed by `solveBudget` alone; the
// others plan as if there were none.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_SOLVERS_H
#define CKPT_PLAN_SOLVERS_H

#include "ckpt/Plan/Bound.h"
#include "ckpt/Plan/SolverOptions.h"

#include <optional>

namespace ckpt::plan {

/// The fastest plan without a limit: fused and ordered, recomputing nothing
/// that stands in memory but what `Keep::Recompute` demands. Named strategies
/// and the baseline of percent budgets are this on a constrained problem. Its
/// work is counted; it looks at no clock. If the demands on values contradict
/// each other, the plan is empty and the verdict says why.
Solution solveUnlimited(const Problem &problem, const SolverOptions &options);

/// One kernel per op in program order: what every other plan is compared with.
Solution solveAsWritten(const Problem &problem);

/// One plan with an arena of at most \p budgetBytes (`INT64_MAX`: without a
/// limit, recomputing no anchor) in time near-linear in the number of ops, or
/// nothing. What the other solvers start with, and where a problem is too large
/// for their search, end with. Looks at no clock.
std::optional<Solution> solveFirst(const Problem &problem, int64_t budgetBytes,
                                   const SolverOptions &options);

/// A region whose budget no plan was found to keep, and the smallest budget
/// with which one was.
struct RegionShortage {
  int32_t region = none;
  int64_t smallestBytes = 0;
};

/// What `solveBudget` found.
struct BudgetResult {
  /// Best plan that fits; empty if none was found.
  std::optional<Solution> best;
  /// Best, or where nothing fits the smallest plan of walks that do not depend
  /// on the budget: planning with its arena as budget succeeds, given the time.
  /// If no plan is legal, the plan is empty and the verdict says why.
  Solution smallest;
  /// Set where plans fit the budget, but none was found that keeps the regions.
  /// `smallest` is the one with the smallest budget of this region then.
  std::optional<RegionShortage> shortage;
  /// True if the clock ended the search before its counted work did.
  bool stoppedByClock = false;
  int64_t firstPlanMs = 0;
};

/// No plan for a budget takes less; 0: nothing is known.
struct LeastCosts {
  int64_t timeNs = 0, extraFlops = 0;
};

/// Least time (then extra FLOPs) with an arena of at most \p budgetBytes: the
/// plan of `solveFirst`, then the rolling snapshot min-cut, run as a portfolio.
/// \p unlimited is what `solveUnlimited` says of \p problem, if the caller
/// knows. The search ends once a plan costs no more than \p least.
BudgetResult solveBudget(const Problem &problem, int64_t budgetBytes,
                         const SolverOptions &options,
                         const Solution *unlimited = nullptr,
                         LeastCosts least = {});

/// What the exhaustive search minimises first; the other one breaks ties.
enum class Objective : uint8_t { ExtraFlops, Time };

/// Exhaustive search over schedules of small problems (about 7 ops): the
/// oracle of the tests, under a limit on the live peak (not the arena).
std::optional<Plan> solveReference(const Problem &problem, int64_t liveBytes,
                                   Objective objective = Objective::ExtraFlops);

} // namespace ckpt::plan

#endif // CKPT_PLAN_SOLVERS_H
