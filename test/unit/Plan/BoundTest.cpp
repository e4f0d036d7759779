//===- BoundTest.cpp - Bounds on problems made for one rule each ----------===//

#include "ProblemBuilder.h"

#include "ckpt/Plan/Solvers.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// The fewest extra FLOPs in \p slots matrices, or -1 if there is no plan.
int64_t optimum(const Problem &problem, int64_t slots) {
  std::optional<Plan> plan = solveReference(problem, slots * 4096);
  return plan ? validate(problem, *plan, false).extraFlops : -1;
}

void setFlops(Problem &problem, int64_t flops) {
  for (Op &op : problem.ops)
    op.flops = flops;
}

TEST(Bound, KnowsThatAnEpilogueMayOverwriteWhatItReads) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  ValueId sum = b.fusible({point(third), point(first)}, matrix);
  b.result(b.contraction({memory(sum)}, matrix));
  setFlops(b.problem, 1000);
  ASSERT_EQ(optimum(b.problem, 2), 0);
  EXPECT_EQ(Bound(b.problem).extraFlops(2 * 4096), 0);
}

TEST(Bound, ChargesOperandsAndWorkspace) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  b.opOf(second).workspaceBytes = 1000;
  b.result(b.contraction({memory(second)}, matrix));
  EXPECT_EQ(Bound(b.problem).minimumBytes(), 2 * 4096 + 1024);
}

/// What a product's epilogue writes lies over what the epilogue reads, or
/// beside it: either way next to the operand.
TEST(Bound, ChargesOutputsThatAreWrittenOverSomething) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, part);
  ValueId third = b.contraction({memory(second)}, matrix);
  ValueId sum = b.fusible({point(third), point(first)}, matrix);
  b.result(b.contraction({memory(sum)}, part));
  EXPECT_TRUE(solveReference(b.problem, 4096 + 2048));
  EXPECT_EQ(Bound(b.problem).minimumBytes(), 4096 + 2048);
}

/// A product that updates an operand in place needs no room for its result.
TEST(Bound, KnowsThatAProductMayUpdateAnOperand) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId sum = b.contraction({memory(x)}, matrix);
  Read update = memory(sum);
  update.access = Access::Pointwise;
  update.destination = true;
  ValueId second = b.contraction({memory(x), update}, matrix);
  b.result(b.contraction({memory(second)}, matrix));
  EXPECT_TRUE(solveReference(b.problem, 4096));
  EXPECT_EQ(Bound(b.problem).minimumBytes(), 4096);
}

/// The gradient of a tied embedding stands in memory from the loss to the end,
/// unless it is made late, which keeps its operand.
TEST(Bound, SeesResultsThatAreHeldToTheEnd) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId loss = b.contraction({memory(second)}, matrix);
  ValueId held = b.contraction({memory(loss), memory(second)}, matrix);
  ValueId back = b.contraction({memory(loss), memory(x)}, matrix);
  ValueId last = b.contraction({memory(back), memory(first)}, matrix);
  ValueId end = b.contraction({memory(last)}, matrix);
  b.result(b.fusible({point(held), point(end)}, matrix));
  setFlops(b.problem, 1000);
  Bound bound(b.problem);
  int64_t highest = 0;
  for (int64_t slots = 6; slots >= 2; --slots) {
    int64_t least = optimum(b.problem, slots);
    if (least < 0)
      continue;
    EXPECT_LE(bound.extraFlops(slots * 4096), least) << slots;
    EXPECT_LE(bound.minimumBytes(), slots * 4096);
    highest = std::max(highest, bound.extraFlops(slots * 4096));
  }
  EXPECT_GT(highest, 0);
}

/// Here making the held result late is better than making it early.
TEST(Bound, KnowsThatHeldResultsMayBeMadeLate) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId loss = b.contraction({memory(second)}, part);
  ValueId held = b.contraction({memory(loss), memory(x)}, matrix);
  ValueId back = b.contraction({memory(loss), memory(x)}, part);
  ValueId last = b.contraction({memory(back), memory(first)}, part);
  ValueId end = b.contraction({memory(last)}, matrix);
  b.result(b.fusible({point(held), point(end)}, matrix));
  setFlops(b.problem, 1000);
  std::optional<Plan> plan = solveReference(b.problem, 10240);
  ASSERT_TRUE(plan);
  ASSERT_EQ(validate(b.problem, *plan, false).extraFlops, 0);
  EXPECT_EQ(Bound(b.problem).extraFlops(10240), 0);
}

/// A chain of equal layers there and back. Any price of memory takes fractions
/// of layers; a plan cannot.
TEST(Bound, KnowsThatValuesAreKeptWholeOrNotAtAll) {
  ProblemBuilder b;
  std::vector<ValueId> hidden = {b.argument(matrix)};
  for (int layer = 0; layer < 3; ++layer)
    hidden.push_back(b.contraction({memory(hidden.back())}, matrix));
  ValueId back = b.contraction({memory(hidden.back())}, part);
  for (size_t layer = hidden.size() - 1; layer-- > 0;)
    back = b.contraction({memory(back), memory(hidden[layer])}, part);
  b.result(back);
  setFlops(b.problem, 1000);
  // Two and a half matrices beside the last kernel of the forward pass.
  int64_t bytes = 2 * 4096 + 2560;
  std::optional<Plan> plan = solveReference(b.problem, bytes);
  ASSERT_TRUE(plan);
  ASSERT_EQ(validate(b.problem, *plan, false).extraFlops, 1000);
  EXPECT_EQ(Bound(b.problem).extraFlops(bytes), 1000);
  bool decides = false;
  for (const BoundCase &it : Bound(b.problem).extraFlopsCases(bytes))
    decides |= !it.decisions.empty();
  EXPECT_TRUE(decides);
}

/// A product with its epilogue, and a copy of it that no anchor can write: time
/// of two kernels that read and write what they must.
TEST(Bound, AddsUpTheTimeOfKernelsThatEveryPlanHas) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId product = b.contraction({memory(x)}, matrix);
  ValueId turned = b.fusible({any(product)}, matrix);
  b.result(b.contraction({memory(turned)}, matrix));
  std::optional<Plan> plan =
      solveReference(b.problem, INT64_MAX / 4, Objective::Time);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->kernels.size(), 3u);
  EXPECT_EQ(Bound(b.problem).timeNs(INT64_MAX / 4),
            validate(b.problem, *plan, false).timeNs);
}

/// The least time of any plan, by exhaustive search.
int64_t leastNs(const Problem &problem) {
  std::optional<Plan> plan =
      solveReference(problem, INT64_MAX / 4, Objective::Time);
  return plan ? validate(problem, *plan, false).timeNs : -1;
}

/// Three sums of one value: it is computed in each of them or written once, and
/// both take more than to read it three times.
TEST(Bound, ChargesReadersForWhatNobodyHasToWrite) {
  for (int64_t launchNs : {0, 2000, 20000}) {
    ProblemBuilder b;
    b.problem.launchNs = launchNs;
    ValueId x = b.argument(matrix), y = b.argument(matrix),
            z = b.argument(matrix);
    ValueId sum = b.fusible({point(x), point(y), point(z)}, matrix);
    for (int32_t shape : {row, scalar, part})
      b.result(b.reduction({any(sum)}, shape));
    // Every share is rounded.
    EXPECT_LE(Bound(b.problem).timeNs(INT64_MAX / 4), leastNs(b.problem));
    EXPECT_GE(Bound(b.problem).timeNs(INT64_MAX / 4) + 3, leastNs(b.problem));
  }
}

/// The product is written and read with its factor, or both are multiplied
/// behind it, which reads the factor there.
TEST(Bound, ChargesReadersForWhatAnEpilogueWrites) {
  for (int64_t computePs : {0, 1'500'000}) {
    ProblemBuilder b;
    ValueId x = b.argument(matrix), y = b.argument(matrix);
    ValueId product = b.contraction({memory(x)}, matrix);
    b.opOf(product).computePs = computePs;
    ValueId scaled = b.fusible({point(product), point(y)}, matrix);
    b.result(b.reduction({any(scaled)}, row));
    EXPECT_LE(Bound(b.problem).timeNs(INT64_MAX / 4), leastNs(b.problem));
    EXPECT_GE(Bound(b.problem).timeNs(INT64_MAX / 4) + 1, leastNs(b.problem));
  }
}

/// A view of the mask is a result, written next to what it is computed from:
/// reading it is no reason to pay again.
TEST(Bound, KnowsThatAResultMayShowAValue) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId sum = b.fusible({point(x), any(y)}, matrix);
  ValueId mask = b.fusible({any(sum)}, flat);
  ValueId shown = b.view(mask, Access::Reshape, matrix);
  ValueId counted = b.fusible({any(shown)}, flat);
  for (ValueId value : {mask, shown, counted})
    b.problem.values[value].bytes = 1024;
  for (ValueId value : {sum, shown, counted})
    b.result(value);
  EXPECT_LE(Bound(b.problem).timeNs(INT64_MAX / 4), leastNs(b.problem));
}

/// The only kernel of the product writes both that is read, and reads the
/// factor once.
TEST(Bound, GivesBackWhatAFirstKernelWrites) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId product = b.contraction({memory(x)}, matrix);
  b.opOf(product).mayRepeat = false;
  ValueId scaled = b.fusible({point(product), point(y)}, matrix);
  ValueId shown = b.view(product, Access::Reshape, flat);
  ValueId factor = b.view(y, Access::Reshape, flat);
  ValueId other = b.fusible({point(shown), point(factor)}, flat);
  for (ValueId value : {product, y, shown, factor})
    b.problem.values[value].bytes *= 2;
  for (ValueId value : {scaled, other})
    for (int32_t shape : {row, scalar})
      b.result(b.reduction({any(value)}, shape));
  EXPECT_LE(Bound(b.problem).timeNs(INT64_MAX / 4), leastNs(b.problem));
}

/// Rows of a table are looked up in memory.
TEST(Bound, ChargesTablesThatAreLookedUp) {
  ProblemBuilder b;
  ValueId table = b.argument(matrix);
  b.result(b.fusible({memory(table)}, row));
  EXPECT_EQ(Bound(b.problem).timeNs(INT64_MAX / 4), leastNs(b.problem));
}

/// What a value is computed from is written by the same kernel.
TEST(Bound, KnowsThatOneKernelWritesSeveralValues) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId first = b.fusible({point(x), point(y)}, matrix);
  ValueId second = b.fusible({point(first), point(x)}, matrix);
  for (ValueId value : {first, second})
    for (int32_t shape : {row, scalar})
      b.result(b.reduction({any(value)}, shape));
  EXPECT_LE(Bound(b.problem).timeNs(INT64_MAX / 4), leastNs(b.problem));
}

/// What follows a product is computed behind it, where it adds to its
/// arithmetic, or by a kernel of its own.
TEST(Bound, AddsTheArithmeticOfEpilogues) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId product = b.contraction({memory(x)}, matrix);
  ValueId activated = b.fusible({point(product)}, matrix);
  b.result(activated);
  b.opOf(product).computePs = 5'000'000;
  b.opOf(activated).computePs = 500'000;
  std::optional<Plan> plan =
      solveReference(b.problem, INT64_MAX / 4, Objective::Time);
  ASSERT_TRUE(plan);
  EXPECT_EQ(validate(b.problem, *plan, false).timeNs, 5500);
  EXPECT_EQ(Bound(b.problem).timeNs(INT64_MAX / 4), 5500);
}

/// A value that does not fit has to be written again for the last product. If
/// it is computed behind a product, that may run again and write it at once.
TEST(Bound, ChargesTheTimeOfWritingAgain) {
  for (bool isBehindProduct : {false, true}) {
    ProblemBuilder b;
    b.problem.launchNs = 100;
    ValueId x = b.argument(matrix), y = b.argument(matrix);
    ValueId first = isBehindProduct ? b.contraction({memory(x)}, matrix) : x;
    ValueId sum = b.fusible({point(first), point(y)}, matrix);
    ValueId second = b.contraction({memory(sum)}, matrix);
    ValueId third = b.contraction({memory(second)}, matrix);
    ValueId fourth = b.contraction({memory(third)}, matrix);
    b.result(b.contraction({memory(fourth), memory(sum)}, matrix));
    int64_t bytes = 2 * 4096;
    std::optional<Plan> plan =
        solveReference(b.problem, bytes, Objective::Time);
    ASSERT_TRUE(plan);
    int64_t ns = Bound(b.problem).timeNs(bytes);
    EXPECT_GE(ns, Bound(b.problem).timeNs(INT64_MAX / 4) + 409);
    EXPECT_LE(ns, validate(b.problem, *plan, false).timeNs);
  }
}

/// A product and what follows it do not fit; one kernel makes both again.
TEST(Bound, KnowsThatAProductAndItsEpilogueAreWrittenAtOnce) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  b.opOf(first).computePs = 5'000'000;
  ValueId sum = b.fusible({point(first), point(y)}, matrix);
  ValueId second = b.contraction({memory(sum), memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.opOf(third).workspaceBytes = 4096;
  ValueId fourth = b.contraction({memory(third)}, part);
  b.result(b.contraction({memory(fourth), memory(sum), memory(first)}, matrix));
  int64_t bytes = 3 * 4096;
  std::optional<Plan> plan = solveReference(b.problem, bytes, Objective::Time);
  ASSERT_TRUE(plan);
  int64_t ns = Bound(b.problem).timeNs(bytes);
  EXPECT_GE(ns, Bound(b.problem).timeNs(INT64_MAX / 4) + 5000);
  EXPECT_LE(ns, validate(b.problem, *plan, false).timeNs);
}

/// The repetition that a tight budget needs takes a kernel's time.
TEST(Bound, ChargesTheTimeOfRepetitions) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.result(b.contraction({memory(third), memory(first)}, matrix));
  std::optional<Plan> plan =
      solveReference(b.problem, 2 * 4096, Objective::Time);
  ASSERT_TRUE(plan);
  EXPECT_EQ(Bound(b.problem).timeNs(2 * 4096),
            validate(b.problem, *plan, false).timeNs);
  EXPECT_GT(Bound(b.problem).timeNs(2 * 4096),
            Bound(b.problem).timeNs(INT64_MAX / 4));
}

} // namespace
