//===- ReferenceSolverTest.cpp - The oracle itself ------------------------===//

#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include "ckpt/Plan/Solvers.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace ckpt::plan;

namespace {

/// A chain there and back: three products, each read again in the backward
/// pass, which ends at a result.
struct Chain : ProblemBuilder {
  Chain() {
    ValueId x = argument(matrix);
    ValueId a = contraction({memory(x)}, matrix);
    ValueId b = contraction({memory(a)}, matrix);
    ValueId c = contraction({memory(b)}, matrix);
    ValueId d = contraction({memory(c), memory(b)}, matrix);
    ValueId e = contraction({memory(d), memory(a)}, matrix);
    result(e);
    for (Op &op : problem.ops)
      op.flops = 10;
  }
};

TEST(ReferenceSolver, TradesWorkForMemory) {
  Problem problem = Chain().problem;
  std::optional<Plan> free = solveReference(problem, INT64_MAX);
  ASSERT_TRUE(free);
  EXPECT_EQ(validate(problem, *free, false).livePeakBytes, 4 * 4096);
  // Dropping the first product costs it once more: nothing else is left then.
  std::optional<Plan> tight = solveReference(problem, 3 * 4096);
  ASSERT_TRUE(tight);
  Verdict verdict = validate(problem, *tight, false);
  EXPECT_EQ(verdict.livePeakBytes, 3 * 4096);
  EXPECT_EQ(verdict.extraFlops, 10);
  EXPECT_FALSE(solveReference(problem, 3 * 4096 - 1));
}

TEST(ReferenceSolver, FusesForTime) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.fusible({point(x)}, matrix);
  ValueId second = b.fusible({point(first)}, matrix);
  b.result(second);
  std::optional<Plan> plan = solveReference(b.problem, 0);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->kernels.size(), 1u);
  EXPECT_EQ(plan->kernels[0].ops, (std::vector<OpId>{0, 1}));
}

/// What the second run does not write would take workspace.
TEST(ReferenceSolver, WritesResultsAgainBesideWhatIsMadeAgain) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.opaque({memory(x)}, matrix);
  ValueId other = b.addResult(matrix);
  ValueId use = b.contraction({memory(made)}, row);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId last = b.contraction({memory(made), memory(second)}, row);
  for (ValueId value : {other, use, last})
    b.result(value);
  std::optional<Plan> plan = solveReference(b.problem, 2 * 4096);
  ASSERT_TRUE(plan);
  Verdict verdict = validate(b.problem, *plan, false);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(verdict.livePeakBytes, 2 * 4096);
}

TEST(ReferenceSolver, WritesResultsAgainThatAreToBeRecomputed) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.contraction({memory(x)}, matrix);
  ValueId loss = b.contraction({memory(a)}, matrix);
  ValueId first = b.contraction({memory(loss)}, matrix);
  ValueId second = b.contraction({memory(first), memory(a)}, matrix);
  b.opOf(a).flops = 7;
  b.opOf(first).backward = b.opOf(second).backward = true;
  b.result(a);
  b.result(second);
  b.problem.values[a].keep = Keep::Recompute;
  std::optional<Plan> plan = solveReference(b.problem, INT64_MAX);
  ASSERT_TRUE(plan);
  Verdict verdict = validate(b.problem, *plan, false);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(verdict.extraFlops, 7);
}

/// A plan made of random kernels that only looks at what stands in memory.
Plan randomPlan(const Problem &problem, std::mt19937_64 &random) {
  Plan plan;
  OpId count = problem.ops.size();
  for (OpId root = 0; root < count; ++root) {
    if (random() % 4 == 0 && root > 0)
      root -= random() % root;
    // The root and a random part of what it reads.
    std::vector<char> inside(count, false);
    inside[root] = true;
    for (OpId op = root; op >= 0; --op)
      if (inside[op])
        for (const Read &read : problem.ops[op].reads)
          if (OpId maker = problem.values[read.value].op;
              maker != none && random() % 2)
            inside[maker] = true;
    Kernel kernel;
    for (OpId op = 0; op < count; ++op)
      if (inside[op])
        kernel.ops.push_back(op);
    kernel.outputs = problem.ops[root].results;
    if (analyze(problem, kernel).error.empty())
      plan.kernels.push_back(kernel);
    else
      plan.kernels.push_back({{root}, problem.ops[root].results, {}, -1});
  }
  return plan;
}

TEST(ReferenceSolverProperty, NoRandomPlanIsBetter) {
  int32_t valid = 0, recomputing = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Problem problem = randomProblem(seed);
    std::mt19937_64 random(seed);
    for (int32_t round = 0; round < 40; ++round) {
      Plan plan = randomPlan(problem, random);
      Verdict verdict = validate(problem, plan, false);
      if (!verdict.error.empty())
        continue;
      ++valid;
      recomputing += verdict.extraFlops > 0;
      // Only every fourth, since each is an exhaustive search.
      if (round % 4)
        continue;
      std::optional<Plan> best = solveReference(problem, verdict.livePeakBytes);
      ASSERT_TRUE(best) << "seed " << seed;
      Verdict bestVerdict = validate(problem, *best, false);
      ASSERT_EQ(bestVerdict.error, "") << "seed " << seed;
      ASSERT_LE(bestVerdict.livePeakBytes, verdict.livePeakBytes)
          << "seed " << seed;
      ASSERT_LE(std::tie(bestVerdict.extraFlops, bestVerdict.timeNs),
                std::tie(verdict.extraFlops, verdict.timeNs))
          << "seed " << seed;
    }
  }
  EXPECT_GT(valid, 1000);
  EXPECT_GT(recomputing, 50);
}

TEST(ReferenceSolverProperty, LessMemoryNeverCostsLess) {
  int32_t costlier = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Problem problem = randomProblem(seed);
    std::optional<Plan> plan = solveReference(problem, INT64_MAX);
    Verdict last;
    while (plan) {
      Verdict verdict = validate(problem, *plan, false);
      ASSERT_EQ(verdict.error, "") << "seed " << seed;
      ASSERT_GE(std::tie(verdict.extraFlops, verdict.timeNs),
                std::tie(last.extraFlops, last.timeNs))
          << "seed " << seed;
      costlier += verdict.extraFlops > last.extraFlops;
      last = std::move(verdict);
      plan = solveReference(problem, last.livePeakBytes - 1);
    }
  }
  EXPECT_GT(costlier, 30);
}

} // namespace
