//===- QuickPlanTest.cpp - Plans of generated steps -----------------------===//

#include "Plan/Construct/List/QuickPlan.h"
#include "Plan/Construct/KeepCut/CutScheduler.h"
#include "Plan/Construct/KeepCut/RootOrder.h"
#include "Plan/Construct/List/ListScheduler.h"
#include "ProblemBuilder.h"
#include "RandomProblem.h"
#include "SolverEffort.h"
#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/Generate.h"

#include "gtest/gtest.h"

using namespace ckpt::plan;

namespace {

constexpr int64_t unlimited = INT64_MAX;

class QuickPlans : public testing::TestWithParam<std::string_view> {};

/// Legal, within the budget, and with more work the less memory there is. The
/// sums of a stencil over all its steps end list schedules early: below, walks
/// find the plans.
TEST_P(QuickPlans, FitTheirBudgets) {
  const int64_t least = GetParam() == "stencil" ? 70 : 50;
  Problem problem;
  ASSERT_EQ(generateProblem(GetParam(), 2000, problem), "");
  RematGraph graph(problem, /*fusion=*/true);
  Draft free = quickPlan(graph, unlimited, SolverOptions());
  ASSERT_TRUE(free.usable());
  EXPECT_EQ(free.verdict.extraFlops, 0);
  for (int64_t percent = 90; percent >= least; percent -= 20) {
    int64_t budget = free.verdict.livePeakBytes / 100 * percent;
    Draft draft = quickPlan(graph, budget, SolverOptions());
    ASSERT_TRUE(draft.usable()) << percent << " %";
    Verdict verdict = validate(problem, draft.plan, /*slots=*/false);
    EXPECT_EQ(verdict.error, "");
    EXPECT_LE(verdict.livePeakBytes, budget) << percent << " %";
  }
}

/// The first plan of a generated step within a share of the least memory of one
/// without a limit, and how many times as long it takes.
double timesAsLong(std::string_view family, int64_t ops, int64_t percent) {
  Problem problem;
  EXPECT_EQ(generateProblem(family, ops, problem), "");
  RematGraph graph(problem, /*fusion=*/true);
  Draft free = quickPlan(graph, unlimited, SolverOptions());
  int64_t budget = free.verdict.livePeakBytes / 100 * percent;
  Draft draft = quickPlan(graph, budget, SolverOptions());
  EXPECT_TRUE(free.usable() && draft.usable());
  return static_cast<double>(draft.verdict.timeNs) /
         static_cast<double>(free.verdict.timeNs);
}

/// The same with places for the slots, of a share of the arena without a limit;
/// 0 if there is no such plan.
double timesAsLongPlaced(std::string_view family, int64_t ops,
                         int64_t percent) {
  Problem problem;
  EXPECT_EQ(generateProblem(family, ops, problem), "");
  std::optional<Solution> free =
      solveFirst(problem, unlimited, SolverOptions());
  if (!free) {
    ADD_FAILURE() << "no plan without a limit";
    return 0;
  }
  int64_t budget = free->plan.arenaBytes / 100 * percent;
  std::optional<Solution> placed = solveFirst(problem, budget, SolverOptions());
  if (!placed) {
    ADD_FAILURE() << "no plan";
    return 0;
  }
  EXPECT_LE(placed->plan.arenaBytes, budget);
  EXPECT_EQ(validate(problem, placed->plan, /*slots=*/true).error, "");
  return static_cast<double>(placed->verdict.timeNs) /
         static_cast<double>(free->verdict.timeNs);
}

/// A cut that stays as it is with a little less room gets much less.
TEST(QuickPlan, ChangesTheCut) {
  // 1.13; 1.27 with a little less room each time.
  EXPECT_LT(timesAsLong("unet", 3000, 55), 1.2);
}

/// A U-Net is tight where it turns, and where all that waits for the way up
/// stands in memory; blocks that are alike are not all made again at once.
TEST(QuickPlan, HasGuidesWhereverItIsTight) {
  // 1.19; 1.30 with one guide, 1.43 where cuts leave room.
  EXPECT_LT(timesAsLong("unet", 5000, 50), 1.25);
}

/// What a long recurrence reads at each step is made when it gets there, not
/// before its first step.
TEST(QuickPlan, MakesALongRecurrenceFromItsStart) {
  // 1.02; 1.13 where all that it reads is made first.
  EXPECT_LT(timesAsLong("lstm", 3000, 50), 1.05);
  // 1.14; none.
  EXPECT_LT(timesAsLong("lstm", 3000, 30), 1.2);
}

/// Where memory is short everywhere, a schedule that drops what it needs last
/// and keeps what it dropped in vain is better than one that keeps what a cut
/// at one moment says.
TEST(QuickPlan, KeepsWhatAScheduleDropsInVain) {
  // 1.06; 1.12 with guides, 1.09 without what is kept again.
  EXPECT_LT(timesAsLong("resnet", 10000, 30), 1.08);
}

/// Where all that a root needs does not fit, something of it leaves and is made
/// again on the way.
TEST(QuickPlan, MakesADetourWhereThereIsNoRoom) {
  // 1.13; none.
  EXPECT_LT(timesAsLong("resnet", 1000, 40), 1.3);
}

/// What a guide has made for one value is there for the next, though a schedule
/// learns its uses by what is made together.
TEST(QuickPlan, KnowsWhatIsUsedForTheNextValueOfAGuide) {
  // 1.01; 1.12 where it is made again.
  EXPECT_LT(timesAsLong("lstm", 3000, 85), 1.05);
}

/// Where places exceed the budget, there is a plan for a little less.
TEST(QuickPlan, IsMadeAgainWherePlacesExceedTheBudget) {
  // 1.18; none where it is not.
  EXPECT_LT(timesAsLongPlaced("unet", 10000, 50), 1.25);
}

/// An update that reads the new momentum in the kernel of the gradient does not
/// ask for the momentum before that kernel.
TEST(QuickPlan, RunsAGradientWithMomentumOnce) {
  ProblemBuilder builder;
  ValueId weight = builder.argument(matrix),
          momentum = builder.argument(matrix);
  ValueId input = builder.argument(matrix), error = builder.argument(matrix);
  ValueId gradient = builder.contraction({any(input), any(error)}, matrix);
  ValueId next = builder.fusible({point(gradient), point(momentum)}, matrix);
  ValueId updated = builder.fusible({point(weight), point(next)}, matrix);
  // Worth a place in memory.
  builder.opOf(next).computePs = 1'000'000'000;
  builder.result(next);
  builder.result(updated);
  RematGraph graph(builder.problem, /*fusion=*/true);
  KernelCache kernels(builder.problem);
  ListScheduler scheduler(graph, orderRoots(graph, /*reorder=*/true),
                          CostWeights(), kernels);
  Plan plan = scheduler.run({}).plan;
  EXPECT_EQ(runsOf(builder.problem, plan, gradient), 1);
}

/// The search for a budget has a plan before its first walk, where there is
/// one.
TEST(QuickPlan, StartsTheSearch) {
  int started = 0;
  for (std::string_view family : generatedFamilies()) {
    Problem problem;
    ASSERT_EQ(generateProblem(family, 300, problem), "");
    std::optional<Solution> free =
        solveFirst(problem, INT64_MAX, SolverOptions());
    ASSERT_TRUE(free);
    int64_t budget = free->plan.arenaBytes / 100 * 80;
    std::optional<Solution> first =
        solveFirst(problem, budget, SolverOptions());
    std::vector<int64_t> times;
    SolverOptions options = oneRound();
    options.onPlan = [&](const Plan &, const Verdict &verdict) {
      times.push_back(verdict.timeNs);
    };
    solveBudget(problem, budget, options);
    ASSERT_FALSE(times.empty());
    started += first && times.front() == first->verdict.timeNs;
  }
  EXPECT_GE(started, 5);
}

/// A walk of very many ops would take minutes.
TEST(QuickPlan, AndChainsAreAllThatLargeStepsGet) {
  Problem problem;
  ASSERT_EQ(generateProblem("chain", 21000, problem), "");
  ASSERT_TRUE(isTooLargeToWalk(RematGraph(problem, /*fusion=*/true)));
  Solution unlimited = solveUnlimited(problem, SolverOptions());
  const int64_t half = unlimited.plan.arenaBytes / 2;
  int plans = 0;
  SolverOptions options = oneRound();
  options.onPlan = [&](const Plan &, const Verdict &) { ++plans; };
  BudgetResult result = solveBudget(problem, half, options, &unlimited);
  ASSERT_TRUE(result.best);
  EXPECT_LE(result.best->plan.arenaBytes, half);
  // The first plan, the one without a limit, and four chains.
  constexpr int mostPlans = 6;
  EXPECT_GT(plans, 2);
  EXPECT_LE(plans, mostPlans);

  BudgetResult none = solveBudget(problem, 1, options, &unlimited);
  EXPECT_FALSE(none.best);
  EXPECT_LE(plans, 2 * mostPlans);
  ASSERT_FALSE(none.smallest.plan.kernels.empty());
  EXPECT_LE(none.smallest.plan.arenaBytes, half);

  Frontier frontier = solveFrontier(problem, /*points=*/4, oneRound());
  EXPECT_LE(frontier.points.front().solution.plan.arenaBytes, half);
}

/// Far below what one cut keeps of a long recurrence, a schedule is better than
/// a hierarchy of kept states, and its slots find places.
TEST(QuickPlan, OfALongRecurrenceIsNoChain) {
  // 1.19; 1.27 of a chain.
  EXPECT_LT(timesAsLongPlaced("lstm", 3000, 25), 1.23);
}

/// Where slots leave gaps, other plans are placed; if none fits, one that drops
/// more, whose slots leave fewer.
TEST(QuickPlan, OfASmallUNetFitsThoughSlotsLeaveGaps) {
  EXPECT_GT(timesAsLongPlaced("unet", 1000, 40), 1);
}

INSTANTIATE_TEST_SUITE_P(All, QuickPlans,
                         testing::ValuesIn(generatedFamilies()),
                         [](auto &info) { return std::string(info.param); });

} // namespace
