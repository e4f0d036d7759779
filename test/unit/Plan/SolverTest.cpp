//===- SolverTest.cpp - Plans and bounds on a training step ---------------===//

#include "Plan/Packing/AssignOffsets.h"
#include "ProblemBuilder.h"
#include "RandomProblem.h"
#include "SolverEffort.h"
#include "TextOf.h"
#include "TrainingStep.h"
#include "ckpt/Plan/Explain.h"
#include "ckpt/Plan/Generate.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// How often the plan runs each op.
std::vector<int> runsOf(const Problem &problem, const Plan &plan) {
  std::vector<int> runs(problem.ops.size(), 0);
  for (const Kernel &kernel : plan.kernels)
    for (OpId op : kernel.ops)
      ++runs[op];
  return runs;
}

TEST(SolveUnlimited, RunsEveryAnchorOnce) {
  Problem problem = TrainingStep(4).problem;
  Solution solution = solveUnlimited(problem, {});
  ASSERT_EQ(solution.verdict.error, "");
  std::vector<int> runs = runsOf(problem, solution.plan);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    EXPECT_TRUE(!isAnchor(problem.ops[op]) || runs[op] == 1) << op;
  EXPECT_EQ(solution.verdict.extraFlops, 0);
}

/// Also where launches cost nearly nothing, so that a small value is cheap to
/// compute again.
TEST(SolveUnlimited, WritesEveryValueOnce) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomOptions random;
    random.ops = 30;
    random.keeps = random.runOnce = false;
    Problem problem = randomProblem(seed, random);
    problem.launchNs = 1;
    Solution solution = solveUnlimited(problem, {});
    ASSERT_EQ(solution.verdict.error, "") << seed;
    std::vector<int> writes(problem.values.size(), 0);
    for (const Kernel &kernel : solution.plan.kernels)
      for (ValueId output : kernel.outputs)
        EXPECT_EQ(++writes[output], 1) << seed << ": value " << output;
  }
}

TEST(SolveUnlimited, ComputesUpdatesInTheKernelsOfWeightGradients) {
  Problem problem = TrainingStep(2).problem;
  Solution solution = solveUnlimited(problem, {});
  int updates = 0;
  for (const Kernel &kernel : solution.plan.kernels)
    for (ValueId output : kernel.outputs)
      updates += problem.values[output].home == Home::Result &&
                 kernel.ops.size() == 2 &&
                 problem.ops[kernel.ops[0]].kind == OpKind::Contraction &&
                 kernel.outputs.size() == 1;
  EXPECT_GE(updates, 4);
}

TEST(SolveUnlimited, WithoutFusionHasOneOpPerKernel) {
  Problem problem = TrainingStep(2).problem;
  SolverOptions options;
  options.fusion = false;
  Solution solution = solveUnlimited(problem, options);
  ASSERT_EQ(solution.verdict.error, "");
  for (const Kernel &kernel : solution.plan.kernels)
    EXPECT_EQ(kernel.ops.size(), 1u);
}

/// Rows gathered from a table: each kernel that computes them inside reads all
/// of the table.
TEST(SolveUnlimited, WritesWhatIsGatheredFromALargeArgument) {
  ProblemBuilder b;
  ValueId rows = b.fusible({any(b.argument(matrix))}, row);
  for (int reader = 0; reader < 3; ++reader)
    b.result(b.reduction({any(rows)}, row));
  Solution solution = solveUnlimited(b.problem, {});
  ASSERT_EQ(solution.verdict.error, "");
  int written = 0;
  for (const Kernel &kernel : solution.plan.kernels)
    for (ValueId output : kernel.outputs)
      written += output == rows;
  EXPECT_EQ(written, 1);
}

TEST(SolveUnlimited, WithoutReorderingFollowsTheProgram) {
  Problem problem = TrainingStep(3).problem;
  SolverOptions options;
  options.reorder = false;
  Solution solution = solveUnlimited(problem, options);
  ASSERT_EQ(solution.verdict.error, "");
  OpId last = none;
  for (const Kernel &kernel : solution.plan.kernels) {
    OpId anchor = analyze(problem, kernel).anchor;
    if (anchor == none)
      continue;
    EXPECT_GT(anchor, last);
    last = anchor;
  }
}

/// A kernel that needs one result of an op in memory cannot make another one of
/// it, not even for an op between.
TEST(SolveUnlimited, ReadsAllResultsFromMemoryWhereAKernelNeedsOneThere) {
  for (bool isBetween : {false, true}) {
    ProblemBuilder b;
    ValueId inMemory = b.fusible({point(b.argument(0))}, 0);
    ValueId sum = b.addResult(0);
    if (isBetween)
      sum = b.fusible({point(sum)}, 0);
    ValueId product = b.contraction(
        {memory(inMemory), memory(inMemory), destination(sum)}, 0);
    b.result(product);
    Solution solution = solveUnlimited(b.problem, {});
    ASSERT_EQ(solution.verdict.error, "");
    EXPECT_EQ(runsOf(b.problem, solution.plan, inMemory), 1);
  }
}

TEST(SolveBudget, SweepStaysWithinBudgetsAndAboveBounds) {
  Problem problem = TrainingStep(6).problem;
  Bound bound(problem);
  int64_t baseline = solveUnlimited(problem, {}).plan.arenaBytes;
  int64_t lastBound = 0;
  int solved = 0;
  for (int percent = 100; percent >= 30; percent -= 10) {
    int64_t budget = baseline * percent / 100;
    EXPECT_GE(bound.extraFlops(budget), lastBound);
    lastBound = bound.extraFlops(budget);
    BudgetResult result = solveBudget(problem, budget, allRounds());
    ASSERT_FALSE(result.smallest.plan.kernels.empty());
    if (!result.best)
      continue;
    ++solved;
    EXPECT_EQ(result.best->verdict.error, "");
    EXPECT_LE(result.best->plan.arenaBytes, budget);
    EXPECT_GE(result.best->verdict.extraFlops, lastBound);
    EXPECT_GE(result.best->verdict.timeNs, bound.timeNs(budget));
    EXPECT_LE(bound.minimumBytes(), budget);
    EXPECT_LE(result.smallest.plan.arenaBytes, result.best->plan.arenaBytes);
  }
  EXPECT_GE(solved, 6);
  EXPECT_GT(lastBound, 0);
}

TEST(SolveBudget, RecomputesNothingWhereTheBaselineFits) {
  Problem problem = TrainingStep(4).problem;
  int64_t baseline = solveUnlimited(problem, {}).plan.arenaBytes;
  BudgetResult result = solveBudget(problem, baseline, {});
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->verdict.extraFlops, 0);
}

TEST(SolveBudget, FindsNothingBelowTheMinimum) {
  Problem problem = TrainingStep(2).problem;
  Bound bound(problem);
  ASSERT_GT(bound.minimumBytes(), 0);
  EXPECT_FALSE(solveBudget(problem, bound.minimumBytes() - 1, {}).best);
}

TEST(SolveBudget, IsDeterministic) {
  Problem problem = TrainingStep(5).problem;
  int64_t budget = solveUnlimited(problem, {}).plan.arenaBytes * 6 / 10;
  BudgetResult first = solveBudget(problem, budget, allRounds());
  BudgetResult second = solveBudget(problem, budget, allRounds());
  ASSERT_TRUE(first.best);
  EXPECT_EQ(textOf(first.best->plan), textOf(second.best->plan));
}

TEST(SolveBudget, SavesWhatHasToBeSaved) {
  TrainingStep step(4);
  int64_t budget = solveUnlimited(step.problem, {}).plan.arenaBytes * 7 / 10;
  BudgetResult before = solveBudget(step.problem, budget, {});
  ASSERT_TRUE(before.best);
  for (const TrainingStep::Block &block : step.blocks)
    step.problem.values[block.hidden].keep = Keep::Save;
  BudgetResult result = solveBudget(step.problem, budget, {});
  const Solution &any = result.best ? *result.best : result.smallest;
  ASSERT_EQ(any.verdict.error, "");
  std::vector<int> runs = runsOf(step.problem, any.plan);
  for (const TrainingStep::Block &block : step.blocks)
    EXPECT_EQ(runs[step.problem.values[block.hidden].op], 1);
}

TEST(SolveUnlimited, LooksAtNoClock) {
  Problem problem = TrainingStep(5).problem;
  EXPECT_EQ(textOf(solveUnlimited(problem, oneRound()).plan),
            textOf(solveUnlimited(problem, {}).plan));
}

TEST(SolveUnlimited, NeverWritesWhatIsInlined) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId sum = b.fusible({point(b.reduction({any(x)}, matrix)),
                           point(b.reduction({any(x)}, matrix))},
                          matrix);
  b.result(b.reduction({any(sum)}, row));
  b.result(b.reduction({any(sum)}, row));
  auto isWritten = [&](const Solution &solution) {
    for (const Kernel &kernel : solution.plan.kernels)
      if (std::count(kernel.outputs.begin(), kernel.outputs.end(), sum))
        return true;
    return false;
  };
  EXPECT_TRUE(isWritten(solveUnlimited(b.problem, {})));
  b.problem.values[sum].keep = Keep::Inline;
  Solution solution = solveUnlimited(b.problem, {});
  EXPECT_EQ(solution.verdict.error, "");
  EXPECT_FALSE(isWritten(solution));
}

TEST(SolveUnlimited, SaysWhyNothingCanBeInlined) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId left = b.fusible({point(x)}, matrix);
  b.result(b.contraction({memory(left), memory(x)}, matrix));
  b.problem.values[left].keep = Keep::Inline;
  Solution solution = solveUnlimited(b.problem, {});
  EXPECT_TRUE(solution.plan.kernels.empty());
  EXPECT_EQ(solution.verdict.error,
            "value 1 (v1) is to be computed inside its readers, but it is "
            "needed in memory");
  BudgetResult result = solveBudget(b.problem, 1 << 20, {});
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.smallest.verdict.error, solution.verdict.error);
}

TEST(SolveBudget, SucceedsAtTheSmallestBudgetItReports) {
  for (int blocks : {2, 4, 6}) {
    Problem problem = TrainingStep(blocks).problem;
    int64_t baseline = solveUnlimited(problem, {}).plan.arenaBytes;
    for (int percent : {20, 10, 2}) {
      BudgetResult result =
          solveBudget(problem, baseline * percent / 100, allRounds());
      int64_t smallest = result.smallest.plan.arenaBytes;
      ASSERT_GT(smallest, 0);
      EXPECT_TRUE(solveBudget(problem, smallest, allRounds()).best);
    }
  }
}

/// Walks look for budgets a little above what one kernel needs: 1.37 times that
/// here, where walks with shares of the baseline come to 1.53 times.
TEST(SolveBudget, ClosesInOnTheSmallestBudget) {
  Problem problem;
  ASSERT_EQ(generateProblem("unet", 200, problem), "");
  SolverOptions options;
  options.timeLimitMs = 0;
  BudgetResult result = solveBudget(problem, /*budgetBytes=*/1, options);
  EXPECT_FALSE(result.best);
  EXPECT_LT(static_cast<double>(result.smallest.plan.arenaBytes),
            1.45 * static_cast<double>(largestWorkingSet(problem).bytes));
}

TEST(SolveUnlimited, FirstBackwardKernelReadsWhatIsRecomputed) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId hidden = b.contraction({memory(x), memory(x)}, matrix);
  ValueId loss = b.contraction({memory(hidden), memory(x)}, matrix);
  ValueId first = b.contraction({memory(hidden), memory(loss)}, matrix);
  b.opOf(first).backward = true;
  ValueId second = b.contraction({memory(hidden), memory(first)}, matrix);
  b.opOf(second).backward = true;
  b.result(second);
  b.problem.values[hidden].keep = Keep::Recompute;
  Solution solution = solveUnlimited(b.problem, {});
  ASSERT_EQ(solution.verdict.error, "");
  EXPECT_EQ(runsOf(b.problem, solution.plan)[b.problem.values[hidden].op], 2);
}

TEST(SolveUnlimited, RecomputesWhatHasToBeRecomputed) {
  TrainingStep step(4);
  for (const TrainingStep::Block &block : step.blocks)
    step.problem.values[block.hidden].keep = Keep::Recompute;
  Solution solution = solveUnlimited(step.problem, {});
  ASSERT_EQ(solution.verdict.error, "");
  std::vector<int> runs = runsOf(step.problem, solution.plan);
  for (const TrainingStep::Block &block : step.blocks)
    EXPECT_EQ(runs[step.problem.values[block.hidden].op], 2);
}

} // namespace
