//===- ClockTest.cpp - Time and counted work ------------------------------===//

#include "Plan/Model/Clock.h"
#include "Plan/Model/RunBoth.h"
#include "ProblemBuilder.h"

#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/Generate.h"
#include "ckpt/Plan/Solvers.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

using namespace ckpt::plan;

namespace {

constexpr int64_t ms = Clock::nsPerMs;

SolverOptions effort(int64_t effortMs) {
  SolverOptions options;
  options.effortMs = effortMs;
  return options;
}

TEST(Clock, WithoutALimitNothingIsEverOver) {
  SolverOptions options;
  options.timeLimitMs = 0;
  Clock clock(options);
  Work::spend(ms);
  EXPECT_FALSE(clock.isLimited());
  EXPECT_FALSE(clock.isOver(0));
  EXPECT_FALSE(clock.at(0).isOver());
  EXPECT_FALSE(clock.in(0).isOver());
  EXPECT_FALSE(Deadline().isOver());
}

TEST(Clock, AnInterruptEndsAllTime) {
  for (int64_t limitMs : {0, 1000000}) {
    std::atomic<bool> interrupted = false;
    SolverOptions options;
    options.timeLimitMs = limitMs;
    options.interrupted = &interrupted;
    Clock clock(options);
    Deadline before = clock.in(0.5);
    EXPECT_FALSE(clock.isOver() || before.isOver());
    interrupted = true;
    EXPECT_TRUE(clock.isOver() && before.isOver());
    EXPECT_TRUE(clock.in(0.5).isOver() && clock.at(1).isOver());
    EXPECT_TRUE(clock.atInterrupt().isOver());
  }
}

TEST(Clock, ShowsTheWorkThatLoopsReport) {
  Clock clock(effort(10));
  Deadline third = clock.at(0.3);
  Work::spend(3 * ms);
  EXPECT_EQ(clock.ms(), 3);
  EXPECT_FALSE(clock.isOver(0.3));
  EXPECT_FALSE(third.isOver());
  Deadline later = clock.in(0.2);
  Work::spend(1);
  EXPECT_TRUE(clock.isOver(0.3));
  EXPECT_TRUE(third.isOver());
  EXPECT_FALSE(later.isOver());
  Work::spend(2 * ms);
  EXPECT_TRUE(later.isOver());
}

TEST(Clock, GivesPartsOfWhatIsLeft) {
  Clock clock(effort(100));
  Work::spend(40 * ms);
  EXPECT_EQ(clock.rest(effort(100), 0.5).effortMs, 30);
  // A limit of 0 would be none.
  Work::spend(90 * ms);
  EXPECT_EQ(clock.rest(effort(100), 0.5).effortMs, 1);
}

TEST(Clock, CountsFromWhereTheLimitBegan) {
  SolverOptions options;
  options.timeLimitMs = 1000000;
  options.beginLimit();
  EXPECT_FALSE(Clock(options).isOver());
  *options.limitBegin -= std::chrono::milliseconds(400000);
  Clock clock(options);
  EXPECT_LE(clock.rest(options, 0.5).timeLimitMs, 300000);
  EXPECT_GE(clock.rest(options, 0.5).timeLimitMs, 200000);
  EXPECT_FALSE(clock.rest(options, 0.5).limitBegin);
  *options.limitBegin -= std::chrono::milliseconds(700000);
  EXPECT_TRUE(Clock(options).isOver());
  // Effort counts from the start of each search, and no limit has no rest.
  options.effortMs = 10;
  EXPECT_FALSE(Clock(options).isOver());
  options.timeLimitMs = options.effortMs = 0;
  EXPECT_FALSE(Clock(options).isOver());
  EXPECT_EQ(Clock(options).rest(options, 0.5).timeLimitMs, 0);
}

/// A limit that is over leaves little work: a plan for each question, and
/// bounds that still hold.
TEST(Clock, SolversAndBoundsEndWithALimitThatBeganEarlier) {
  Problem problem;
  ASSERT_EQ(generateProblem("unet", 100, problem), "");
  SolverOptions late;
  late.timeLimitMs = 1000;
  late.beginLimit();
  *late.limitBegin -= std::chrono::hours(1);
  Solution full = solveUnlimited(problem, {}),
           some = solveUnlimited(problem, late);
  EXPECT_EQ(some.verdict.error, "");
  EXPECT_GT(some.verdict.timeNs, full.verdict.timeNs);
  Bound all(problem), few(problem, late);
  EXPECT_LT(few.minimumBytes(), all.minimumBytes());
  EXPECT_GE(few.minimumBytes(), largestWorkingSet(problem).bytes);
  int64_t bytes = all.minimumBytes() + all.minimumBytes() / 10;
  EXPECT_LT(few.extraFlops(bytes), all.extraFlops(bytes));
  EXPECT_LE(few.timeNs(bytes), all.timeNs(bytes));
  Frontier curve = solveFrontier(problem, 4, late);
  EXPECT_EQ(curve.error, "");
  EXPECT_FALSE(curve.points.empty());
}

/// The log-sum of exponentials, whose maximum lies in the buffer of the result:
/// no walk ends in time, and no list schedule gets through. The program as it
/// is stands in.
TEST(Clock, TheStepItselfIsAPlanWhenTheLimitIsOver) {
  ProblemBuilder b;
  ValueId x = b.argument(row);
  ValueId most = b.reduction({any(x)}, scalar);
  ValueId finite = b.fusible({point(most)}, scalar);
  ValueId less = b.fusible({any(finite)}, row);
  ValueId sum = b.reduction({any(b.fusible({point(less)}, row))}, scalar);
  ValueId result = b.fusible({point(b.fusible({point(sum)}, scalar))}, scalar);
  b.result(result);
  b.problem.values[most].home = Home::Hosted;
  b.problem.values[most].host = result;
  SolverOptions late;
  late.limitBegin = std::chrono::steady_clock::now() - std::chrono::hours(1);
  EXPECT_EQ(solveUnlimited(b.problem, late).verdict.error, "");
}

/// An interrupt ends them in the same places.
TEST(Clock, BoundsEndWithAnInterrupt) {
  Problem problem;
  ASSERT_EQ(generateProblem("unet", 100, problem), "");
  std::atomic<bool> interrupted = true;
  SolverOptions options;
  options.timeLimitMs = 0;
  options.interrupted = &interrupted;
  EXPECT_LT(Bound(problem, options).minimumBytes(),
            Bound(problem).minimumBytes());
}

TEST(Clock, CountsLanesAsTwoCoresWouldTakeThem) {
  Clock clock(effort(10));
  std::thread::id threads[2];
  int64_t starts[2];
  runLanes([&](size_t lane) {
    threads[lane] = std::this_thread::get_id();
    starts[lane] = clock.ms();
    Work::spend(lane == 0 ? 3 * ms : 2 * ms);
  });
  EXPECT_EQ(clock.ms(), 3);
  EXPECT_EQ(starts[0], starts[1]);
  EXPECT_EQ(threads[0], threads[1]);
}

TEST(Clock, LanesTakeTwoThreadsWhereTimeCounts) {
  Clock clock((SolverOptions()));
  std::thread::id threads[2];
  runLanes([&](size_t lane) { threads[lane] = std::this_thread::get_id(); });
  EXPECT_NE(threads[0], threads[1]);
}

/// Searches that end in the middle end at the same plan, whatever else runs.
TEST(Clock, TheSameEffortLeadsToTheSamePlan) {
  Problem problem;
  ASSERT_EQ(generateProblem("resnet", 60, problem), "");
  Solution unlimited = solveUnlimited(problem, {});
  int64_t budget = unlimited.plan.arenaBytes * 7 / 10;
  auto solve = [&] {
    return solveBudget(problem, budget, effort(50), &unlimited);
  };
  std::future<BudgetResult> other = std::async(std::launch::async, solve);
  BudgetResult first = solve(), second = other.get();
  ASSERT_TRUE(first.best && second.best);
  EXPECT_TRUE(first.stoppedByClock);
  EXPECT_EQ(first.firstPlanMs, second.firstPlanMs);
  EXPECT_EQ(first.best->verdict.timeNs, second.best->verdict.timeNs);
  ASSERT_EQ(first.best->plan.kernels.size(), second.best->plan.kernels.size());
  for (size_t k = 0; k < first.best->plan.kernels.size(); ++k) {
    const Kernel &left = first.best->plan.kernels[k];
    const Kernel &right = second.best->plan.kernels[k];
    EXPECT_EQ(left.ops, right.ops);
    EXPECT_EQ(left.offsets, right.offsets);
  }
}

/// Also where nothing fits, where the clock runs out before a plan is found,
/// and where several searches follow each other.
TEST(Clock, SearchesEndWithTheirEffort) {
  for (auto [family, ops] : {std::pair("gpt", 1500), std::pair("resnet", 4000),
                             std::pair("unet", 500)}) {
    Problem problem;
    ASSERT_EQ(generateProblem(family, ops, problem), "");
    Solution unlimited = solveUnlimited(problem, {});
    for (auto [percent, scratch] : {std::pair(70, false), std::pair(0, false),
                                    std::pair(30, true), std::pair(0, true)}) {
      SCOPED_TRACE(family + std::to_string(percent));
      problem.scratchInResults = scratch;
      Clock clock(effort(1000000));
      solveBudget(problem, unlimited.plan.arenaBytes * percent / 100,
                  effort(200), &unlimited);
      EXPECT_LE(clock.ms(), 200 * 105 / 100 + 100);
    }
  }
}

/// Whoever knows the least costs does not wait for the search to give up.
TEST(Clock, SearchesEndWithAPlanThatIsProvenTheBest) {
  Problem problem;
  ASSERT_EQ(generateProblem("resnet", 60, problem), "");
  Solution unlimited = solveUnlimited(problem, {});
  int64_t budget = unlimited.plan.arenaBytes * 8 / 10;
  auto solve = [&](LeastCosts least, int64_t &spentMs) {
    Clock clock(effort(1000000));
    BudgetResult result =
        solveBudget(problem, budget, effort(200), &unlimited, least);
    spentMs = clock.ms();
    return result;
  };
  int64_t allMs = 0, fewMs = 0;
  BudgetResult longest = solve({}, allMs);
  ASSERT_TRUE(longest.best);
  BudgetResult soon = solve({INT64_MAX, INT64_MAX}, fewMs);
  ASSERT_TRUE(soon.best);
  EXPECT_FALSE(soon.stoppedByClock);
  EXPECT_LT(fewMs, allMs / 4);
  // Costs that no plan has end nothing.
  const Verdict &best = longest.best->verdict;
  BudgetResult same = solve({best.timeNs - 1, best.extraFlops}, fewMs);
  EXPECT_EQ(same.best->verdict.timeNs, best.timeNs);
  EXPECT_EQ(fewMs, allMs);
}

} // namespace
