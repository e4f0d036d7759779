//===- Solvers.h - The functions that make plans ----------------*- C++ -*-===//
//
// Solvers read a Problem and return plans with slots placed. They obey
// `Value::keep`, `Op::mayRepeat` and the order of effects. They are
// deterministic: counted work limits the effort, and the clock only stops
// between rounds. `solveBudget` alone obeys budgets of regions; the others plan
// as if there were none. lib/Plan/README.md explains the terms.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_SOLVERS_H
#define CKPT_PLAN_SOLVERS_H

#include "ckpt/Plan/Bound.h"
#include "ckpt/Plan/SolverOptions.h"

#include <optional>
#include <vector>

namespace ckpt::plan {

/// The unlimited plan: the fastest without a limit, fused and ordered. It
/// rematerialises no value that stands in memory, unless `Keep::Recompute`
/// demands it. Named strategies are this function on a constrained problem, and
/// percent budgets refer to its arena. Its work is counted; half of the time
/// limit ends it early, with a plan of the list scheduler at the least. If the
/// demands on values contradict each other, the plan is empty and
/// the verdict says why.
Solution solveUnlimited(const Problem &problem, const SolverOptions &options);

/// One kernel per op in program order: the reference for every other plan.
Solution solveAsWritten(const Problem &problem);

/// A plan with an arena of at most \p budgetBytes (`INT64_MAX`: without a
/// limit, recomputing no anchor) in time near-linear in the number of ops, or
/// nothing. Other solvers start with it, and end with it if a problem is too
/// large for their search. Looks at no clock.
std::optional<Solution> solveFirst(const Problem &problem, int64_t budgetBytes,
                                   const SolverOptions &options);

/// A region whose budget no plan was found to keep, and the smallest budget
/// with which one was.
struct RegionShortage {
  int32_t region = none;
  int64_t smallestBytes = 0;
};

/// The findings of `solveBudget`.
struct BudgetResult {
  /// Best plan that fits; empty if none was found.
  std::optional<Solution> best;
  /// The best plan, or if nothing fits, the smallest plan of walks that do not
  /// depend on the budget: given the time, planning succeeds with its arena as
  /// budget. If no plan is legal, the plan is empty and the verdict says why.
  Solution smallest;
  /// Set if plans fit the budget, but none was found that keeps the regions.
  /// `smallest` is then the plan with the smallest budget of this region.
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
/// plan of `solveFirst`, then the portfolio. \p unlimited is the answer of
/// `solveUnlimited` for \p problem, if the caller knows it. The search ends
/// once a plan costs no more than \p least.
BudgetResult solveBudget(const Problem &problem, int64_t budgetBytes,
                         const SolverOptions &options,
                         const Solution *unlimited = nullptr,
                         LeastCosts least = {});

/// The parts of the portfolio, by the names that reports and
/// `SolverOptions::without` use.
std::vector<std::string> subSolverNames();

/// The exhaustive search minimises this first; the other one breaks ties.
enum class Objective : uint8_t { ExtraFlops, Time };

/// Exhaustive search over schedules of small problems (about 7 ops): the
/// oracle of the tests, under a limit on the live peak (not the arena).
std::optional<Plan> solveReference(const Problem &problem, int64_t liveBytes,
                                   Objective objective = Objective::ExtraFlops);

} // namespace ckpt::plan

#endif // CKPT_PLAN_SOLVERS_H
