//===- BudgetWalkTest.cpp - What one walk finds ---------------------------===//

#include "BudgetWalk.h"
#include "ProblemBuilder.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// What is made again on the way to one operand is gone before the other one is
/// made.
TEST(BudgetWalk, MakesTheOperandFirstThatTakesMostOnTheWay) {
  ProblemBuilder b;
  ValueId argument = b.argument(matrix);
  ValueId source = b.fusible({any(argument)}, matrix);
  ValueId product = b.contraction({memory(source)}, matrix);
  ValueId first = b.reduction({any(product)}, row);
  b.result(first);
  // Leaves no room for the product.
  ValueId middle = b.contraction({memory(b.fusible({any(first)}, matrix)),
                                  memory(b.fusible({any(first)}, matrix))},
                                 row);
  b.result(middle);
  ValueId other = b.fusible({any(middle)}, matrix);
  b.result(b.contraction({memory(other), memory(product)}, row));
  const int64_t budget = 2 * b.problem.values[product].bytes;
  Graph graph(b.problem, true);
  LooseWalks loose;
  SolverOptions options;
  BudgetWalk walk(graph, options, loose);
  Draft draft = walk.run(walkSettings.front(), static_cast<double>(budget),
                         budget, WalkLimits());
  ASSERT_TRUE(draft.usable());
  EXPECT_EQ(draft.verdict.livePeakBytes, budget);
}

} // namespace
