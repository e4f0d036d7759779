//===- StressTest.cpp - Many random problems against the oracle -----------===//
//
// No bound is above an optimum and no plan below it. Every test run looks at
// some thousand problems; CKPT_STRESS=100000 asks for so many, and
// CKPT_STRESS_FIRST for another first seed. A failure prints its seed.
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "RandomSum.h"
#include "SolverEffort.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

using namespace ckpt::plan;

namespace {

uint64_t numberFromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Every kind of op, read and home, in turns with and without demands.
Problem problemOf(uint64_t seed) {
  RandomOptions options;
  options.ops = 4 + seed % 3;
  options.arguments = 1 + seed % 2;
  options.keeps = seed % 5 == 0;
  options.runOnce = seed % 2 == 0;
  options.hosts = seed % 7 < 4;
  return randomProblem(seed, options);
}

class Stress {
public:
  void look(uint64_t seed) { look(seed, problemOf(seed)); }
  void look(uint64_t seed, const Problem &problem);
  void print() const {
    std::cout << problems << " problems: " << feasible
              << " with an optimum within the budget, " << solved
              << " of them solved, " << optimal << " with least extra FLOPs, "
              << tight << " with an exact bound; " << missed
              << " not planned although possible\n";
  }

  /// Problems with a plan of which the solver finds none.
  uint64_t numMissed() const { return missed; }

private:
  void compare(const Problem &problem, int64_t budget);

  uint64_t problems = 0, feasible = 0, solved = 0, optimal = 0, tight = 0,
           missed = 0;
};

void Stress::look(uint64_t seed, const Problem &problem) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  ++problems;
  Solution unlimited = solveUnlimited(problem, {});
  if (!unlimited.verdict.error.empty()) {
    bool possible = solveReference(problem, INT64_MAX / 4).has_value();
    missed += possible;
    if (possible)
      std::cout << "seed " << seed << " has a plan, but the solver found none: "
                << unlimited.verdict.error << "\n";
    return;
  }
  constexpr int64_t percents[] = {100, 80, 65, 50, 35};
  compare(problem, unlimited.plan.arenaBytes * percents[seed / 3 % 5] / 100);
}

void Stress::compare(const Problem &problem, int64_t budget) {
  Bound bound(problem);
  BudgetResult result = solveBudget(problem, budget, allRounds());
  std::optional<Plan> optimum = solveReference(problem, budget);
  if (!optimum) {
    EXPECT_FALSE(result.best);
    return;
  }
  Verdict least = validate(problem, *optimum, false);
  ++feasible;
  tight += bound.extraFlops(budget) == least.extraFlops;
  EXPECT_EQ(least.error, "");
  EXPECT_LE(bound.extraFlops(budget), least.extraFlops);
  EXPECT_LE(bound.timeNs(budget), least.timeNs);
  EXPECT_LE(bound.minimumBytes(), least.livePeakBytes);
  if (!result.best)
    return;
  ++solved;
  const Verdict &verdict = result.best->verdict;
  EXPECT_EQ(validate(problem, result.best->plan, true).error, "");
  EXPECT_LE(result.best->plan.arenaBytes, budget);
  EXPECT_GE(verdict.extraFlops, least.extraFlops);
  EXPECT_GE(verdict.timeNs, bound.timeNs(budget));
  optimal += verdict.extraFlops == least.extraFlops;
}

TEST(Stress, NoBoundAboveNoPlanBelowTheOptimum) {
  uint64_t first = numberFromEnvironment("CKPT_STRESS_FIRST", 1000000);
  uint64_t count = numberFromEnvironment("CKPT_STRESS", 2000);
  Stress stress;
  for (uint64_t seed = first; seed < first + count; ++seed)
    stress.look(seed);
  stress.print();
}

TEST(Stress, SumsThatLieInBuffersOfResults) {
  Stress stress;
  int several = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Problem problem = randomSum(seed);
    ASSERT_EQ(check(problem), "");
    auto isHosted = [](const Value &value) {
      return value.home == Home::Hosted;
    };
    several += std::count_if(problem.values.begin(), problem.values.end(),
                             isHosted) > 1;
    stress.look(seed, problem);
  }
  EXPECT_GT(several, 20);
  stress.print();
}

TEST(Stress, ValuesOfSeveralResultsThatLieInOneOfTheirBuffers) {
  Stress stress;
  int several = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Problem problem = randomUpdate(seed);
    ASSERT_EQ(check(problem), "");
    for (const Op &op : problem.ops)
      for (const Read &read : op.reads)
        several += problem.values[read.value].home == Home::Hosted &&
                   problem.values[op.results[0]].home == Home::Result &&
                   problem.values[read.value].host != op.results[0];
    stress.look(seed, problem);
  }
  EXPECT_GT(several, 40);
  EXPECT_EQ(stress.numMissed(), 0u);
  stress.print();
}

} // namespace
