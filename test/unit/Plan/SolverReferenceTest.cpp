//===- SolverReferenceTest.cpp - Solvers and bounds against the oracle ----===//
//
// On problems small enough for exhaustive search: every plan is valid, none is
// better than the optimum, no bound is above it, and most plans are optimal.
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "SolverEffort.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

struct Tally {
  int feasible = 0, solved = 0, optimal = 0, exactBounds = 0;
};

void checkBudget(const Problem &problem, const Bound &bound, int64_t budget,
                 Tally &tally) {
  std::optional<Plan> optimum = solveReference(problem, budget);
  BudgetResult result = solveBudget(problem, budget, allRounds());
  if (!optimum) {
    EXPECT_FALSE(result.best);
    return;
  }
  int64_t least = validate(problem, *optimum, false).extraFlops;
  ++tally.feasible;
  tally.exactBounds += bound.extraFlops(budget) == least;
  EXPECT_LE(bound.extraFlops(budget), least);
  EXPECT_LE(bound.minimumBytes(), budget);
  if (!result.best)
    return;
  ++tally.solved;
  tally.optimal += result.best->verdict.extraFlops == least;
  EXPECT_EQ(result.best->verdict.error, "");
  EXPECT_LE(result.best->plan.arenaBytes, budget);
  EXPECT_GE(result.best->verdict.extraFlops, least);
  EXPECT_GE(result.best->verdict.timeNs, bound.timeNs(budget));
}

Tally checkSeeds(uint64_t first, uint64_t last, const RandomOptions &options) {
  Tally tally;
  for (uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomProblem(seed, options);
    Solution unlimited = solveUnlimited(problem, allRounds());
    if (!options.keeps) {
      EXPECT_EQ(unlimited.verdict.error, "");
    }
    if (!unlimited.verdict.error.empty())
      continue;
    EXPECT_EQ(options.keeps ? 0 : unlimited.verdict.extraFlops, 0);
    Bound bound(problem);
    for (int percent : {100, 75, 50})
      checkBudget(problem, bound, unlimited.plan.arenaBytes * percent / 100,
                  tally);
  }
  return tally;
}

/// No bound on time is above the fastest plan within the budget.
TEST(SolverReference, TimeBound) {
  int compared = 0, close = 0;
  for (uint64_t seed = 50000; seed < 52000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions options;
    options.ops = 5 + seed % 2;
    options.keeps = seed % 4 == 0;
    options.runOnce = seed % 2 == 0;
    Problem problem = randomProblem(seed, options);
    if (seed % 3 == 0)
      problem.launchNs = 1;
    Bound bound(problem);
    int64_t budget = INT64_MAX / 4;
    for (int round = 0; round < 3; ++round) {
      std::optional<Plan> fastest =
          solveReference(problem, budget, Objective::Time);
      if (!fastest)
        break;
      Verdict verdict = validate(problem, *fastest, false);
      EXPECT_LE(bound.timeNs(budget), verdict.timeNs) << budget;
      ++compared;
      close += bound.timeNs(budget) * 100 >= verdict.timeNs * 97;
      budget = verdict.livePeakBytes - 1;
    }
  }
  EXPECT_GE(compared, 2000);
  EXPECT_GE(close * 100, compared * 60);
}

TEST(SolverReference, FreeValues) {
  RandomOptions options;
  options.keeps = false;
  options.runOnce = false;
  Tally tally = checkSeeds(0, 400, options);
  EXPECT_GE(tally.solved * 100, tally.feasible * 95);
  EXPECT_GE(tally.optimal * 100, tally.solved * 95);
  EXPECT_GE(tally.exactBounds * 100, tally.feasible * 85);
}

TEST(SolverReference, OpsThatRunOnce) {
  RandomOptions options;
  options.keeps = false;
  Tally tally = checkSeeds(10000, 10300, options);
  EXPECT_GE(tally.solved * 100, tally.feasible * 95);
}

/// Values computed inside their readers: solvers find a plan or say why not
/// exactly where the oracle does.
TEST(SolverReference, InlinedValues) {
  RandomOptions options;
  options.keeps = false;
  int planned = 0, refused = 0;
  for (uint64_t seed = 40000; seed < 40300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomProblem(seed, options);
    for (size_t value = seed % 3; value < problem.values.size(); value += 3)
      if (problem.values[value].op != none)
        problem.values[value].keep = Keep::Inline;
    bool possible = solveReference(problem, INT64_MAX / 4).has_value();
    Solution unlimited = solveUnlimited(problem, allRounds());
    EXPECT_EQ(possible, unlimited.verdict.error.empty())
        << unlimited.verdict.error;
    EXPECT_EQ(possible, !unlimited.plan.kernels.empty());
    (possible ? planned : refused)++;
    BudgetResult result =
        solveBudget(problem, unlimited.plan.arenaBytes, allRounds());
    EXPECT_EQ(possible, result.best.has_value());
    EXPECT_EQ(possible, result.smallest.verdict.error.empty());
  }
  EXPECT_GE(planned, 50);
  EXPECT_GE(refused, 50);
}

TEST(SolverReference, DemandsOnValues) {
  Tally tally = checkSeeds(20000, 20300, RandomOptions());
  EXPECT_GE(tally.solved * 100, tally.feasible * 90);
}

} // namespace
