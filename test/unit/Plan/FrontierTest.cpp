//===- FrontierTest.cpp - Whole curves, and the pool behind them ----------===//

#include "RandomProblem.h"
#include "SolverEffort.h"
#include "TrainingStep.h"

#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/Generate.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace ckpt::plan;

namespace {

Solution solutionOf(int64_t timeNs, int64_t extraFlops = 0) {
  Solution solution;
  solution.verdict.timeNs = timeNs;
  solution.verdict.extraFlops = extraFlops;
  return solution;
}

TEST(PlanPool, ReturnsTheFastestThatFits) {
  PlanPool pool;
  EXPECT_TRUE(pool.add(100, solutionOf(10)));
  EXPECT_TRUE(pool.add(50, solutionOf(20)));
  EXPECT_EQ(pool.fastestWithin(49), nullptr);
  EXPECT_EQ(pool.fastestWithin(50)->verdict.timeNs, 20);
  EXPECT_EQ(pool.fastestWithin(99)->verdict.timeNs, 20);
  EXPECT_EQ(pool.fastestWithin(1000)->verdict.timeNs, 10);
}

TEST(PlanPool, OfEqualTimesTakesLessWork) {
  PlanPool pool;
  EXPECT_TRUE(pool.add(50, solutionOf(20, 5)));
  EXPECT_FALSE(pool.add(50, solutionOf(20, 5)));
  EXPECT_TRUE(pool.add(50, solutionOf(20, 4)));
  EXPECT_EQ(pool.plans().size(), 1u);
}

TEST(PlanPool, HoldsNoDominatedPlan) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    PlanPool pool;
    std::vector<std::array<int64_t, 3>> added;
    for (int i = 0; i < 30; ++i) {
      std::array<int64_t, 3> plan = {static_cast<int64_t>(random() % 12),
                                     static_cast<int64_t>(random() % 12),
                                     static_cast<int64_t>(random() % 3)};
      pool.add(plan[0], solutionOf(plan[1], plan[2]));
      added.push_back(plan);
    }
    for (int64_t bytes = 0; bytes < 12; ++bytes) {
      std::pair<int64_t, int64_t> best = {1000, 1000};
      for (auto [needed, timeNs, extraFlops] : added)
        if (needed <= bytes)
          best = std::min(best, {timeNs, extraFlops});
      const Solution *found = pool.fastestWithin(bytes);
      ASSERT_EQ(found == nullptr, best.first == 1000);
      if (found) {
        EXPECT_EQ(
            std::make_pair(found->verdict.timeNs, found->verdict.extraFlops),
            best);
      }
    }
    std::pair<int64_t, int64_t> last = {1000, 1000};
    for (const auto &[bytes, solution] : pool.plans()) {
      std::pair<int64_t, int64_t> here = {solution.verdict.timeNs,
                                          solution.verdict.extraFlops};
      EXPECT_LT(here, last);
      last = here;
    }
  }
}

TEST(PlanPool, PricesTheNextBytesBySteepestSlope) {
  PlanPool pool;
  pool.add(100, solutionOf(1000));
  pool.add(110, solutionOf(990));
  pool.add(200, solutionOf(500));
  EXPECT_EQ(pool.savedNs(100, 1000, 10), 50);
  EXPECT_EQ(pool.savedNs(200, 500, 10), 0);
}

void expectSound(const Problem &problem, const Frontier &frontier) {
  ASSERT_EQ(frontier.error, "");
  ASSERT_FALSE(frontier.points.empty());
  const FrontierPoint *smaller = nullptr;
  for (const FrontierPoint &point : frontier.points) {
    const Solution &solution = point.solution;
    Verdict verdict = validate(problem, solution.plan, true);
    ASSERT_EQ(verdict.error, "");
    EXPECT_EQ(verdict.timeNs, solution.verdict.timeNs);
    EXPECT_LE(solution.plan.arenaBytes, point.budgetBytes);
    EXPECT_GE(solution.plan.arenaBytes, frontier.minimumBoundBytes);
    EXPECT_GE(verdict.extraFlops, point.extraFlopsBound);
    EXPECT_GE(verdict.timeNs, point.timeBoundNs);
    if (smaller) {
      EXPECT_LT(smaller->budgetBytes, point.budgetBytes);
      EXPECT_GE(smaller->solution.verdict.timeNs, verdict.timeNs);
    }
    smaller = &point;
  }
  EXPECT_LE(smaller->solution.verdict.timeNs, frontier.baseline.verdict.timeNs);
}

TEST(Frontier, IsMonotoneOnATrainingStep) {
  Problem problem = TrainingStep(6).problem;
  Frontier frontier = solveFrontier(problem, 50, oneRound());
  expectSound(problem, frontier);
  EXPECT_EQ(frontier.points.size(), 50u);
  EXPECT_EQ(frontier.points.back().budgetBytes,
            frontier.baseline.plan.arenaBytes);
  // Half of the memory, and work that is worth it.
  EXPECT_LE(2 * frontier.points.front().budgetBytes,
            frontier.points.back().budgetBytes);
  EXPECT_GT(frontier.nsPerMiB(0), 0);
}

TEST(Frontier, IsAtLeastAsSmallAsPlansForOneBudget) {
  Problem problem = TrainingStep(6).problem;
  Frontier frontier = solveFrontier(problem, 20, oneRound());
  BudgetResult single = solveBudget(problem, 0, oneRound());
  EXPECT_LE(frontier.points.front().budgetBytes,
            single.smallest.plan.arenaBytes);
}

TEST(Frontier, IsSoundOnRandomProblems) {
  RandomOptions options;
  options.keeps = false;
  options.ops = 12;
  int curves = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Problem problem = RandomProblem(seed, options).make();
    Frontier frontier = solveFrontier(problem, 5, oneRound());
    SCOPED_TRACE(seed);
    expectSound(problem, frontier);
    curves += frontier.points.size() > 1;
  }
  EXPECT_GT(curves, 20);
}

TEST(Frontier, OfAProblemWithoutOpsIsEmpty) {
  Frontier frontier = solveFrontier(Problem(), 20, oneRound());
  EXPECT_TRUE(frontier.points.empty());
  std::ostringstream svg, json, text;
  printFrontier(frontier, "nothing", text);
  printFrontierJson(frontier, json);
  printFrontierSvg(frontier, "nothing", svg);
  EXPECT_NE(json.str().find("\"points\": []"), std::string::npos);
}

TEST(Frontier, EscapesTitles) {
  std::ostringstream svg;
  printFrontierSvg(Frontier(), "a<b & c>", svg);
  EXPECT_NE(svg.str().find("a&lt;b &amp; c&gt;"), std::string::npos);
}

} // namespace
