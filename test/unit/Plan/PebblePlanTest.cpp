//===- PebblePlanTest.cpp - The smallest budget, from both sides --------===//
//
// Plans that make results from nothing, what is kept between them, and the
// bound from what making operands takes, against exhaustive search.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Pebble/PebblePlan.h"

#include "LeastLiveBytes.h"
#include "Plan/Improve/KeepMove.h"
#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include "ckpt/Plan/Explain.h"
#include "ckpt/Plan/Generate.h"
#include "ckpt/Plan/Solvers.h"

#include <gtest/gtest.h>

#include <iostream>

using namespace ckpt::plan;

namespace {

/// Two parts that are made from whole matrices are read together: the first
/// stands in memory while the second is made.
struct TwoParts : ProblemBuilder {
  TwoParts() {
    ValueId x = argument(matrix);
    ValueId left =
        contraction({memory(contraction({memory(x)}, matrix))}, part);
    ValueId right =
        contraction({memory(contraction({memory(x)}, matrix))}, part);
    result(contraction({memory(left), memory(right)}, row));
  }
};

TEST(PebblePlan, BoundSeesWhatStandsWhileTheRestIsMade) {
  TwoParts parts;
  EXPECT_EQ(leastLiveBytes(parts.problem), 4096 + 2 * 2048);
  EXPECT_EQ(Bound(parts.problem).minimumBytes(), 4096 + 2 * 2048);
}

/// The kernel of the sum may hold the product that makes one of three parts, as
/// the other two stand in memory.
TEST(PebblePlan, BoundKnowsThatTheLastKernelMayHoldAProduct) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  std::vector<Read> parts;
  for (int i = 0; i < 3; ++i) {
    ValueId whole = b.contraction({memory(x)}, matrix);
    parts.push_back(point(b.contraction({memory(whole)}, part)));
  }
  b.result(b.fusible(parts, part));
  EXPECT_EQ(leastLiveBytes(b.problem), 4096 + 2 * 2048);
  EXPECT_EQ(Bound(b.problem).minimumBytes(), 4096 + 2 * 2048);
}

TEST(PebblePlan, NoBoundIsAboveTheLeast) {
  Comparison comparison;
  compareWithLeast(
      1200,
      [](const Problem &problem) { return Bound(problem).minimumBytes(); },
      comparison);
  // Each rule of the bound is exact for some of them.
  EXPECT_GE(comparison.exact, 1123);
}

/// Nothing keeps it from the least but that its search is limited, and that a
/// kernel makes one value.
TEST(PebblePlan, OftenFindsTheLeast) {
  int compared = 0, found = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    RandomOptions options;
    options.ops = 4 + seed % 3;
    options.keeps = options.runOnce = false;
    Problem problem = randomProblem(seed, options);
    int64_t least = leastLiveBytes(problem);
    RematGraph graph(problem, true);
    if (least < 0 || !graph.error.empty())
      continue;
    ++compared;
    Plan plan = PebblePlan(graph).within(least);
    Verdict verdict = validate(problem, plan, false);
    if (plan.kernels.empty() || !verdict.error.empty())
      continue;
    ++found;
    EXPECT_EQ(verdict.livePeakBytes, least) << "seed " << seed;
  }
  std::cout << compared << " problems, " << found << " at their least\n";
  EXPECT_GE(found * 600, compared * 596);
}

/// Results are made one by one, but an op makes all of its own in one run.
TEST(PebblePlan, RunsAnOpOfTwoResultsOnce) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId both = b.opaque({memory(x)}, part);
  b.result(both);
  b.result(b.addResult(part));
  b.result(b.contraction({memory(b.contraction({memory(x)}, matrix))}, row));
  std::optional<Solution> solution =
      solvePebble(RematGraph(b.problem, true), /*leastBytes=*/0,
                  /*enoughBytes=*/0, /*knownBytes=*/1 << 20, Deadline());
  ASSERT_TRUE(solution);
  EXPECT_EQ(solution->plan.kernels.size(), 3u);
}

TEST(PebblePlan, KeepsWhatFits) {
  int compared = 0;
  size_t before = 0, after = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    RandomOptions options;
    options.ops = 12;
    options.keeps = options.runOnce = options.hosts = false;
    Problem problem = randomProblem(seed, options);
    RematGraph graph(problem, true);
    Plan plan = PebblePlan(graph).within(INT64_MAX / 4);
    if (plan.kernels.empty())
      continue;
    ++compared;
    Verdict made = validate(problem, plan, false);
    ASSERT_EQ(made.error, "") << "seed " << seed;
    before += plan.kernels.size();
    int64_t limit = made.livePeakBytes + 256 * (seed % 4);
    keepValues(problem, plan, limit,
               seed % 2 ? KeepEffort::Quick : KeepEffort::Exact);
    Verdict kept = validate(problem, plan, false);
    ASSERT_EQ(kept.error, "") << "seed " << seed;
    EXPECT_LE(kept.livePeakBytes, limit) << "seed " << seed;
    after += plan.kernels.size();
  }
  std::cout << before << " kernels, " << after << " of them needed\n";
  EXPECT_GT(compared, 1950);
  EXPECT_LT(after * 20, before * 11);
}

/// Results are made one after the other: what both need is made twice where
/// there is no room to keep it, and once where there is.
TEST(PebblePlan, RepeatsOnlyWhereThereIsNoRoom) {
  ProblemBuilder b;
  ValueId shared = b.contraction({memory(b.argument(matrix))}, part);
  ValueId wide = b.contraction({memory(shared)}, matrix);
  b.result(b.contraction({memory(wide)}, row));
  b.result(b.contraction({memory(shared)}, row));
  RematGraph graph(b.problem, true);
  Plan plan = PebblePlan(graph).within(4096 + 2048);
  ASSERT_EQ(plan.kernels.size(), 5u);
  keepValues(b.problem, plan, 4096 + 2048 - 1, KeepEffort::Exact);
  EXPECT_EQ(plan.kernels.size(), 5u);
  keepValues(b.problem, plan, 4096 + 2048, KeepEffort::Exact);
  EXPECT_EQ(plan.kernels.size(), 4u);
}

/// What an anchor makes may be written as part of a result only: as long as it
/// is read from memory, it takes its bytes there.
TEST(PebblePlan, CountsWhatResultsCouldHold) {
  ProblemBuilder b;
  ValueId left = b.contraction({memory(b.argument(matrix))}, matrix);
  ValueId right = b.contraction({memory(b.argument(matrix))}, matrix);
  b.result(b.fusible({point(left), point(right)}, matrix));
  RematGraph graph(b.problem, true);
  PebblePlan smallest(graph);
  EXPECT_TRUE(smallest.within(4096 - 1).kernels.empty());
  Verdict verdict = validate(b.problem, smallest.within(4096), false);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(verdict.livePeakBytes, 4096);
}

/// Among thousands of kernels places are found one result at a time.
TEST(PebblePlan, ReachesItsLivePeakInPlaces) {
  Problem problem;
  ASSERT_EQ(generateProblem("resnet", 400, problem), "");
  RematGraph graph(problem, true);
  int64_t unlimited = solveUnlimited(problem, {}).plan.arenaBytes;
  std::optional<Solution> found =
      solvePebble(graph, largestWorkingSet(problem).bytes, /*enoughBytes=*/0,
                  unlimited, Deadline());
  ASSERT_TRUE(found);
  EXPECT_GT(found->plan.kernels.size(), 10000u);
  EXPECT_EQ(found->plan.arenaBytes, found->verdict.livePeakBytes);
  EXPECT_LT(found->plan.arenaBytes, largestWorkingSet(problem).bytes * 6 / 5);
}

} // namespace
