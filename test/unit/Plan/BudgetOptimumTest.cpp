//===- BudgetOptimumTest.cpp - One budget against the optimum -------------===//
//
// The search for one budget against exhaustive search, on consecutive random
// problems: no seed is chosen for a part of the search. The corpus tells the
// worth of the parts on real steps (docs/Evaluation/Corpus.md). The optimum is
// that of time alone; the search also weighs extra FLOPs.
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"

#include "ckpt/Plan/Solvers.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ckpt::plan;

namespace {

struct Tally {
  int feasible = 0, solved = 0, withoutGaps = 0;
  /// Of times over the least.
  double logarithms = 0;

  double meanRatio() const { return std::exp(logarithms / solved); }
};

void compare(const Problem &problem, int64_t budget, Tally &tally) {
  std::optional<Plan> optimum =
      solveReference(problem, budget, Objective::Time);
  SolverOptions options;
  options.effortMs = 20;
  BudgetResult result = solveBudget(problem, budget, options);
  tally.feasible += optimum.has_value();
  if (!optimum || !result.best)
    return;
  ++tally.solved;
  const Verdict &verdict = result.best->verdict;
  EXPECT_LE(result.best->plan.arenaBytes, budget);
  tally.withoutGaps += result.best->plan.arenaBytes == verdict.livePeakBytes;
  int64_t leastNs = validate(problem, *optimum, false).timeNs;
  EXPECT_GE(verdict.timeNs, leastNs);
  tally.logarithms += std::log(static_cast<double>(verdict.timeNs) /
                               static_cast<double>(leastNs));
}

TEST(BudgetOptimum, IsNearlyMetOnSmallProblems) {
  constexpr uint64_t problems = 80;
  Tally tally;
  for (uint64_t seed = 0; seed < problems; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions options;
    options.ops = 8;
    options.keeps = false;
    options.runOnce = seed % 3 == 0;
    Problem problem = randomProblem(seed, options);
    int64_t all = solveUnlimited(problem, {}).plan.arenaBytes;
    for (int64_t percent : {90, 75, 60})
      compare(problem, all * percent / 100, tally);
  }
  std::cout << tally.solved << " of " << tally.feasible << " budgets, "
            << tally.withoutGaps << " without gaps, times " << tally.meanRatio()
            << " of the least in the mean\n";
  EXPECT_GE(tally.solved, 0.99 * tally.feasible);
  EXPECT_GE(tally.withoutGaps, 0.99 * tally.solved);
  // As recorded on 25 November 2026, and 1 %.
  EXPECT_LE(tally.meanRatio(), 1.01 * 1.00654);
}

} // namespace
