#include "ckpt/Plan/FusionDuplication.h"

#include "ProblemBuilder.h"
#include "ckpt/Plan/Kernel.h"
#include "ckpt/Plan/Solvers.h"
#include "gtest/gtest.h"

using namespace ckpt::plan;

namespace {

Read lookup(ValueId value) { return {value, Access::Gather}; }

/// Levels of two lookups each.
ValueId lookUp(ProblemBuilder &b, ValueId value, int levels) {
  for (int level = 0; level < levels; ++level)
    value = b.fusible({lookup(value), lookup(value)}, matrix);
  return value;
}

int64_t memoryReads(const Problem &problem) {
  int64_t count = 0;
  for (const Op &op : problem.ops)
    for (const Read &read : op.reads)
      count += read.need == Need::Memory;
  return count;
}

TEST(FusionDuplication, LookupsInLookupsAreCut) {
  ProblemBuilder b;
  ValueId made = b.fusible({point(b.argument(matrix))}, matrix);
  b.result(lookUp(b, made, 24));
  limitFusionDuplication(b.problem);
  EXPECT_GT(memoryReads(b.problem), 0);
  Solution solution = solveUnlimited(b.problem, SolverOptions());
  ASSERT_EQ(solution.verdict.error, "");
  // No kernel holds more than some eight levels.
  EXPECT_GE(solution.plan.kernels.size(), 3u);
}

TEST(FusionDuplication, AFewLevelsAndLongChainsAreNot) {
  ProblemBuilder b;
  ValueId value = b.fusible({point(b.argument(matrix))}, matrix);
  for (int i = 0; i < 100; ++i) // Each level is made at one place.
    value = b.fusible({lookup(b.fusible({point(value)}, matrix))}, matrix);
  b.result(lookUp(b, value, 2));
  limitFusionDuplication(b.problem);
  EXPECT_EQ(memoryReads(b.problem), 0);
}

TEST(FusionDuplication, ReadsAtOnePlaceShare) {
  ProblemBuilder b;
  ValueId value =
      b.fusible({any(b.fusible({point(b.argument(matrix))}, row))}, matrix);
  for (int i = 0; i < 100; ++i)
    value = b.fusible({point(value), point(value)}, matrix);
  b.result(value);
  limitFusionDuplication(b.problem);
  EXPECT_EQ(memoryReads(b.problem), 0);
}

TEST(FusionDuplication, ShiftedSlicesAreCut) {
  ProblemBuilder b;
  ValueId value = b.fusible({point(b.argument(matrix))}, matrix);
  for (int i = 0; i < 24; ++i) {
    ValueId low = b.view(value, Access::Aligned, matrix);
    ValueId high = b.view(value, Access::Any, matrix);
    value = b.fusible({point(low), point(high)}, matrix);
  }
  b.result(value);
  limitFusionDuplication(b.problem);
  EXPECT_GT(memoryReads(b.problem), 0);
  EXPECT_EQ(solveUnlimited(b.problem, SolverOptions()).verdict.error, "");
}

TEST(FusionDuplication, EachLookupCounts) {
  ProblemBuilder b;
  ValueId made = b.fusible({point(b.argument(matrix))}, matrix);
  b.opOf(made).flops = 1024;
  ValueId once = b.fusible({lookup(made)}, matrix);
  ValueId twice = b.fusible({lookup(made), lookup(made)}, matrix);
  EXPECT_EQ(analyze(b.problem, b.kernel({made, once}, {once})).flops, 1024);
  EXPECT_EQ(analyze(b.problem, b.kernel({made, twice}, {twice})).flops, 2048);
}

} // namespace
