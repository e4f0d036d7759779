//===- CutWalkTest.cpp - What one walk finds ---------------------------===//

#include "Plan/Construct/KeepCut/CutWalk.h"
#include "ProblemBuilder.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// A walk finds a plan that needs no more than \p budget.
void expectFits(const Problem &problem, int64_t budget) {
  RematGraph graph(problem, true);
  LooseWalks loose;
  SolverOptions options;
  CutWalk walk(graph, options, loose);
  Draft draft = walk.run(walkSettings.front(), static_cast<double>(budget),
                         budget, WalkLimits());
  ASSERT_TRUE(draft.usable());
  EXPECT_LE(draft.verdict.livePeakBytes, budget);
}

/// What is made again on the way to one operand is gone before the other one is
/// made.
TEST(CutWalk, MakesTheOperandFirstThatTakesMostOnTheWay) {
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
  expectFits(b.problem, 2 * b.problem.values[product].bytes);
}

/// Two values that leave no room for others are read for a row.
ValueId leaveNoRoom(ProblemBuilder &b, ValueId source) {
  ValueId middle = b.contraction({memory(b.fusible({any(source)}, matrix)),
                                  memory(b.fusible({any(source)}, matrix))},
                                 row);
  b.result(middle);
  return middle;
}

/// Makes a value by way of another one; both stand at the same time.
ValueId makeInTwo(ProblemBuilder &b, ValueId source, int32_t shape) {
  ValueId way =
      b.contraction({memory(b.fusible({any(source)}, matrix))}, matrix);
  return b.contraction({memory(way)}, shape);
}

/// The same where the operand is itself made again for another one.
TEST(CutWalk, MakesInnerOperandsFirstThatTakeMostOnTheWay) {
  ProblemBuilder b;
  ValueId thin = b.argument(row);
  ValueId direct = b.fusible({any(thin)}, matrix);
  ValueId inTwo = makeInTwo(b, thin, row);
  ValueId product = b.contraction({memory(direct), memory(inTwo)}, matrix);
  ValueId use = b.contraction({memory(product)}, row);
  b.result(use);
  ValueId middle = leaveNoRoom(b, use);
  b.result(b.contraction({memory(product), memory(middle)}, row));
  expectFits(b.problem, 2 * b.problem.values[product].bytes +
                            slotBytes(b.problem.values[inTwo].bytes));
}

/// One operand is there, and takes the room that the other one needs on the
/// way.
TEST(CutWalk, DropsAnOperandUntilTheOtherIsMade) {
  ProblemBuilder b;
  ValueId thin = b.argument(row);
  ValueId product = makeInTwo(b, thin, matrix);
  ValueId use = b.contraction({memory(product)}, row);
  b.result(use);
  ValueId other = b.fusible({any(leaveNoRoom(b, use))}, matrix);
  b.result(b.contraction({memory(other)}, row));
  b.result(b.contraction({memory(other), memory(product)}, row));
  expectFits(b.problem, 2 * b.problem.values[product].bytes);
}

} // namespace
