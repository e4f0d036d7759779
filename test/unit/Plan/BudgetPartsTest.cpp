//===- BudgetPartsTest.cpp - What each part of the search is for ----------===//
//
// Every part of the search for one budget is there because the others miss
// plans. On these small random problems one part alone reaches the optimum of
// the exhaustive search: without it, the plan takes longer or there is none.
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "SolverEffort.h"

#include "ckpt/Plan/Pack.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// A random problem and a budget, as a share of the plan without a limit.
struct Case {
  uint64_t seed;
  int32_t ops;
  int64_t percent;
};

Problem problemOf(const Case &it) {
  RandomOptions options;
  options.ops = it.ops;
  options.keeps = false;
  options.runOnce = it.seed % 3 == 0;
  return randomProblem(it.seed, options);
}

int64_t budgetOf(const Case &it, const Problem &problem) {
  return solveUnlimited(problem, {}).plan.arenaBytes * it.percent / 100;
}

void expectOptimal(std::initializer_list<Case> cases,
                   const SolverOptions &options = oneRound()) {
  for (const Case &it : cases) {
    SCOPED_TRACE("seed " + std::to_string(it.seed));
    Problem problem = problemOf(it);
    int64_t budget = budgetOf(it, problem);
    std::optional<Plan> optimum =
        solveReference(problem, budget, Objective::Time);
    ASSERT_TRUE(optimum);
    BudgetResult result = solveBudget(problem, budget, options);
    ASSERT_TRUE(result.best);
    EXPECT_LE(result.best->plan.arenaBytes, budget);
    EXPECT_EQ(result.best->verdict.timeNs,
              validate(problem, *optimum, false).timeNs);
  }
}

TEST(BudgetParts, ThePlanWithoutALimitIsBroughtDownToTheBudget) {
  expectOptimal({{2170, 10, 90}});
}

TEST(BudgetParts, PlansThatWereBroughtDownAreImproved) {
  expectOptimal({{43, 8, 75}});
}

TEST(BudgetParts, WalksWithLessMemoryAreTriedWhereThereIsEnough) {
  expectOptimal({{4346, 8, 100}, {348, 9, 100}});
}

TEST(BudgetParts, SettingsNearTheBestOneAreTriedWhileThereIsTime) {
  expectOptimal({{87, 9, 75}}, allRounds());
}

TEST(BudgetParts, SparingRepeatsFindsWhatCanDoWithout) {
  expectOptimal({{94, 8, 94}});
}

TEST(BudgetParts, SettingsAskMoreThanOneCap) {
  expectOptimal({{61, 8, 75}, {343, 8, 90}});
}

TEST(BudgetParts, MovingWholeKernelsFindsOtherOrders) {
  expectOptimal({{410, 8, 75}, {13, 10, 90}, {247, 10, 90}});
}

TEST(BudgetParts, DroppingTensorsAsTheyAreLeastMissedCompetes) {
  expectOptimal({{440, 8, 90}});
}

TEST(BudgetParts, FirstPlansWithOtherPricesAreChangedToo) {
  expectOptimal({{1297, 8, 75}});
}

TEST(BudgetParts, RepeatsAreExchangedForCheaperOnes) {
  expectOptimal({{738, 8, 90}, {1031, 8, 60}, {487, 10, 90}});
}

TEST(BudgetParts, AnchorsInsideOfOtherKernelsAreExchangedToo) {
  expectOptimal({{334, 8, 90}});
}

TEST(BudgetParts, TheSecondBestPlanMayBecomeTheBest) {
  expectOptimal({{738, 8, 90}});
}

TEST(BudgetParts, SoMayTheThirdBest) { expectOptimal({{3581, 8, 75}}); }

TEST(BudgetParts, PlansThatNeedTooMuchAreRefittedToo) {
  expectOptimal({{293, 10, 90}});
}

TEST(BudgetParts, RepeatsForWhichThereIsRoomAreDropped) {
  expectOptimal({{153, 8, 75}, {153, 8, 60}, {291, 8, 75}});
}

TEST(BudgetParts, TheSmallestPlanKeepsWhatThereIsRoomFor) {
  expectOptimal({{62, 8, 75}});
}

TEST(BudgetParts, TheSmallestPlanIsChangedRepeatByRepeat) {
  expectOptimal(
      {{127, 8, 75}, {14, 8, 75}, {333, 8, 50}, {457, 8, 75}, {74, 8, 90}},
      allRounds());
}

TEST(BudgetParts, PlansAreRefitted) {
  expectOptimal({{1211, 8, 90}, {946, 8, 75}});
}

/// Plans compete with places that fit the budget; those of the answer are
/// searched until they take no more than its largest live sum.
TEST(BudgetParts, TheArenaOfTheAnswerIsItsLargestLiveSum) {
  for (const Case &it :
       {Case{433, 8, 90}, Case{1094, 8, 75}, Case{1767, 8, 90}}) {
    SCOPED_TRACE("seed " + std::to_string(it.seed));
    Problem problem = problemOf(it);
    int64_t budget = budgetOf(it, problem);
    BudgetResult result = solveBudget(problem, budget, oneRound());
    ASSERT_TRUE(result.best);
    int64_t live = result.best->verdict.livePeakBytes;
    EXPECT_EQ(result.best->plan.arenaBytes, live);
    // A packer that stops at the budget leaves more.
    Plan loose = withoutSlots(result.best->plan);
    packSlots(problem, loose, budget);
    EXPECT_GT(loose.arenaBytes, live);
  }
}

} // namespace
