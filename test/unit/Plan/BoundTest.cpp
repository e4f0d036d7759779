//===- BoundTest.cpp - Bounds on problems made for one rule each ----------===//

#include "ProblemBuilder.h"

#include "Plan/Model/Work.h"
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
  for (const BoundCase &it : Bound(b.problem).proveExtraFlops(bytes).cases)
    decides |= !it.decisions.empty();
  EXPECT_TRUE(decides);
}

/// Networks for other questions take most of the time.
TEST(Bound, BuildsOnlyWhatItsScopeAsksFor) {
  ProblemBuilder b;
  std::vector<ValueId> kept = {
      b.contraction({memory(b.argument(matrix))}, matrix)};
  for (int i = 0; i < 6; ++i)
    kept.push_back(b.contraction({memory(kept.back())}, matrix));
  ValueId back = kept.back();
  for (size_t i = kept.size() - 1; i-- > 0;)
    back = b.contraction({memory(back), memory(kept[i])}, matrix);
  b.result(back);
  setFlops(b.problem, 1000);
  SolverOptions noLimit;
  noLimit.timeLimitMs = 0;
  int64_t work = 0;
  auto bound = [&](BoundScope scope) {
    int64_t before = Work::ns();
    Bound made(b.problem, noLimit, scope);
    work = Work::ns() - before;
    return made;
  };
  Bound all = bound(BoundScope::Everything);
  int64_t whole = work, budget = 5 * 4096;
  Bound flops = bound(BoundScope::ExtraFlops);
  EXPECT_LT(work, whole);
  EXPECT_GT(work, 0);
  EXPECT_GT(all.extraFlops(budget), 0);
  EXPECT_EQ(flops.extraFlops(budget), all.extraFlops(budget));
  EXPECT_EQ(flops.timeNs(budget), 0);
  Bound bytes = bound(BoundScope::MinimumBytes);
  EXPECT_EQ(work, 0);
  EXPECT_EQ(bytes.minimumBytes(), all.minimumBytes());
  EXPECT_EQ(bytes.extraFlops(budget), 0);
}

/// Of so many equal layers, decisions would have to be made about every choice:
/// but whichever run again, their FLOPs add up to whole layers.
TEST(Bound, KnowsThatRepeatsAddUpToWholeProducts) {
  constexpr int layers = 40, kept = 30, flops = 1000000;
  ProblemBuilder b;
  std::vector<ValueId> hidden = {b.argument(matrix)};
  for (int layer = 0; layer < layers; ++layer)
    hidden.push_back(b.contraction({memory(hidden.back())}, matrix));
  ValueId back = b.reduction({memory(hidden.back())}, part);
  for (size_t layer = hidden.size() - 1; layer-- > 0;)
    back = b.contraction({memory(back), memory(hidden[layer])}, part);
  b.result(back);
  setFlops(b.problem, flops);
  // What is too little for one more than are kept beside the last of them.
  int64_t bytes = kept * 4096 + 2048 + 3072;
  ExtraFlopsProof proof = Bound(b.problem).proveExtraFlops(bytes);
  EXPECT_EQ(proof.value, (layers - kept) * flops);
  EXPECT_EQ(proof.unit, flops);
}

} // namespace
