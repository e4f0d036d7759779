//===- MergeMoveTest.cpp - Kernels merged within a budget ----------------===//

#include "Plan/Improve/MergeMove.h"
#include "Plan/Model/PlanEdit.h"
#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// One place takes too much until kernels are merged, another one would take as
/// much if they were.
TEST(MergeMove, MergeNothingThatExceedsWhatOthersWillNot) {
  ProblemBuilder b;
  ValueId argument = b.argument(matrix);
  ValueId left = b.fusible({any(argument)}, matrix);
  ValueId right = b.fusible({any(argument)}, matrix);
  ValueId both = b.fusible({any(left), any(right)}, matrix);
  ValueId first = b.reduction({any(both)}, row);
  ValueId operand = b.contraction({memory(argument)}, matrix);
  ValueId product = b.contraction({memory(operand)}, matrix);
  ValueId mask = b.fusible({point(product)}, matrix);
  ValueId second = b.reduction({any(product)}, row);
  ValueId third = b.reduction({any(mask)}, row);
  Plan plan;
  for (ValueId value :
       {left, right, both, first, operand, product, mask, second, third})
    plan.kernels.push_back(b.kernel(value));
  for (ValueId value : {first, second, third})
    b.result(value);
  const int64_t budget = 2 * b.problem.values[mask].bytes;
  ASSERT_EQ(validate(b.problem, plan, false).livePeakBytes, 3 * budget / 2);

  Plan within = plan;
  Verdict verdict = mergeKernels(b.problem, within, budget);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(verdict.livePeakBytes, budget);
  // Where more is allowed, the product and its mask are written by one kernel.
  Verdict faster = mergeKernels(b.problem, plan, 3 * budget / 2);
  EXPECT_EQ(faster.livePeakBytes, 3 * budget / 2);
  EXPECT_LT(plan.kernels.size(), within.kernels.size());
}

/// Merges never cost time, and no peak rises above the limit.
TEST(MergeMove, MergesWithinTheLimitOnRandomProblems) {
  int64_t saved = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    RandomOptions options;
    options.ops = 4 + static_cast<int32_t>(seed % 24);
    Problem problem = RandomProblem(seed, options).make();
    Plan plan;
    for (size_t op = 0; op < problem.ops.size(); ++op)
      plan.kernels.push_back(
          {{static_cast<OpId>(op)}, problem.ops[op].results, {}});
    removeDeadOutputs(problem, plan);
    Verdict before = validate(problem, plan, /*slots=*/false);
    if (!before.error.empty())
      continue; // The problem asks for remats.
    int64_t limit = before.livePeakBytes + 256 * static_cast<int64_t>(seed % 5);
    Verdict after = mergeKernels(problem, plan, limit);
    EXPECT_EQ(after.error, "") << seed;
    EXPECT_LE(after.livePeakBytes, limit) << seed;
    EXPECT_LE(after.timeNs, before.timeNs) << seed;
    saved += before.timeNs - after.timeNs;
  }
  EXPECT_GT(saved, 0);
}

} // namespace
