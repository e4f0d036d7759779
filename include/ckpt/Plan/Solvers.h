//===- Solvers.h - Everything that makes plans and bounds -------*- C++ -*-===//
//
// Solvers read a Problem and return plans with slots placed. They obey
// `Value::keep`, `Op::mayRepeat` and the order of effects, and are
// deterministic: effort is limited by counted work; the clock only stops
// between rounds.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_SOLVERS_H
#define CKPT_PLAN_SOLVERS_H

#include "ckpt/Plan/Validate.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

namespace ckpt::plan {

/// A plan with slots and what the simulator says of it.
struct Solution {
  Plan plan;
  Verdict verdict;
};

/// Switches for comparison; the defaults are what users get.
struct SolverOptions {
  /// Off: one kernel per op that has to stand in memory; nothing is inlined.
  bool fusion = true;
  /// Off: kernels in program order of their anchors or outputs.
  bool reorder = true;
  /// Between rounds, stop after this. 0: one round.
  int64_t timeLimitMs = 5000;
  /// Called between rounds with a line for people; may be empty.
  std::function<void(const std::string &)> progress;
  /// Called with every legal plan that a walk of `solveBudget` makes, within
  /// the budget or not, before slots are placed; may be empty.
  std::function<void(const Plan &, const Verdict &)> onPlan;
};

/// What is left of a limit of \p limitMs after \p spentMs: at least a moment,
/// as 0 stands for no limit.
inline int64_t timeLeft(int64_t limitMs, int64_t spentMs) {
  return limitMs <= 0 ? limitMs : std::max<int64_t>(1, limitMs - spentMs);
}

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

/// What `solveBudget` found.
struct BudgetResult {
  /// Best plan that fits; empty if none was found.
  std::optional<Solution> best;
  /// Best, or where nothing fits the smallest plan of walks that do not depend
  /// on the budget: planning with its arena as budget succeeds, given the time.
  /// If no plan is legal, the plan is empty and the verdict says why.
  Solution smallest;
  /// True if the clock ended the search before its counted work did.
  bool stoppedByClock = false;
  int64_t firstPlanMs = 0;
};

/// Least time (then extra FLOPs) with an arena of at most \p budgetBytes: the
/// plan of `solveFirst`, then the rolling snapshot min-cut, run as a portfolio.
/// \p unlimited is what `solveUnlimited` says of \p problem, if somebody has
/// asked it before.
BudgetResult solveBudget(const Problem &problem, int64_t budgetBytes,
                         const SolverOptions &options,
                         const Solution *unlimited = nullptr);

/// That a plan runs `op` again after a moment, or that it does not.
struct Decision {
  OpId op = none;
  bool again = false;
};

/// The moment at which the kernel of `anchor` first runs, in plans in which
/// `before` has run by then and `after` has not (`none`: nothing is said) and
/// which obey the decisions, and the price of a byte there.
struct BoundCase {
  OpId anchor = none, before = none, after = none;
  int64_t price = 0;
  std::vector<Decision> decisions = {};
};

/// Why no plan has fewer extra FLOPs than `value`: every plan obeys one of the
/// cases. Those of one moment stand together, and the decisions of each are the
/// way to a leaf of one binary tree. Prices are in FLOPs / `flopScale` per
/// byte.
struct ExtraFlopsProof {
  static constexpr int64_t flopScale = 16;
  int64_t value = 0;
  /// The FLOPs of every anchor count as whole multiples of it, rounded down. So
  /// what all repeats add up to is one, too: `value` is rounded up.
  int64_t unit = 1;
  /// Empty where `value` is 0 for lack of anything better.
  std::vector<BoundCase> cases;
};

class BoundSearch;

/// Lower bounds that hold for any order, any fusion and any number of
/// recomputations of kernels that obey the rules. What does not depend on the
/// budget is computed once; a budget is then refined at some moments. (Snapshot
/// relaxation: first execution of one anchor.)
class Bound {
public:
  /// \p problem must outlive the bound.
  explicit Bound(const Problem &problem);
  /// No plan with an arena of \p budgetBytes has fewer extra FLOPs.
  int64_t extraFlops(int64_t budgetBytes) const {
    return proveExtraFlops(budgetBytes).value;
  }
  ExtraFlopsProof proveExtraFlops(int64_t budgetBytes) const;
  /// No plan with an arena of \p budgetBytes is faster, in nanoseconds
  /// (scope: any plan; bandwidth and launches included).
  int64_t timeNs(int64_t budgetBytes) const;
  /// No plan has a smaller arena.
  int64_t minimumBytes() const;

  /// What part of `minimumBytes` follows from: a case that every plan obeys.
  std::optional<BoundCase> minimumCase() const;

private:
  std::shared_ptr<const BoundSearch> search;
};

/// What the exhaustive search minimises first; the other one breaks ties.
enum class Objective : uint8_t { ExtraFlops, Time };

/// Exhaustive search over schedules of small problems (about 7 ops): the
/// oracle of the tests, under a limit on the live peak (not the arena).
std::optional<Plan> solveReference(const Problem &problem, int64_t liveBytes,
                                   Objective objective = Objective::ExtraFlops);

} // namespace ckpt::plan

#endif // CKPT_PLAN_SOLVERS_H
