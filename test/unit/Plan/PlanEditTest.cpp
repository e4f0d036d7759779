//===- PlanEditTest.cpp - Kernels merged within a budget ----------------===//

#include "Plan/Model/PlanEdit.h"
#include "ProblemBuilder.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// One place takes too much until kernels are merged, another one would take as
/// much if they were.
TEST(PlanEdit, MergeNothingThatExceedsWhatOthersWillNot) {
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
  Verdict verdict = improve(b.problem, within, budget);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(verdict.livePeakBytes, budget);
  // Where more is allowed, the product and its mask are written by one kernel.
  Verdict faster = improve(b.problem, plan, 3 * budget / 2);
  EXPECT_EQ(faster.livePeakBytes, 3 * budget / 2);
  EXPECT_LT(plan.kernels.size(), within.kernels.size());
}

} // namespace
