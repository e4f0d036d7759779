//===- HostInResultsTest.cpp - Values that wait in buffers of results -----===//

#include "ProblemBuilder.h"
#include "ckpt/Plan/Validate.h"
#include "gmock/gmock.h"

using namespace ckpt::plan;
using testing::HasSubstr;

namespace {

/// The gradient of a tied embedding: a part made early, seen through two
/// permutations that cancel, and a part made at the end.
struct TiedEmbedding : ProblemBuilder {
  ValueId weight, early, turned, turnedBack, middle, late, sum, updated;

  TiedEmbedding() {
    weight = argument(matrix);
    early = contraction({memory(weight), memory(weight)}, matrix);
    turned = view(early, Access::Permute, matrix);
    turnedBack = view(turned, Access::Permute, matrix);
    problem.values[turnedBack].same = early;
    middle = contraction({memory(weight)}, matrix);
    late = contraction({memory(middle)}, matrix);
    sum = fusible({point(turnedBack), point(late)}, matrix);
    updated = fusible({point(weight), point(sum)}, matrix);
    result(updated);
  }
  Kernel updateKernel() const {
    return kernel({turned, turnedBack, sum, updated}, {updated});
  }
  Plan plan() const {
    Plan plan;
    plan.kernels = {kernel(early), kernel(middle), kernel(late),
                    updateKernel()};
    return plan;
  }
};

TEST(HostInResults, HostsWhatWaitsLongest) {
  TiedEmbedding b;
  Plan plan = b.plan();
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 3 * 4096);
  hostInResults(b.problem);
  EXPECT_EQ(check(b.problem), "");
  EXPECT_EQ(b.problem.values[b.early].host, b.updated);
  EXPECT_EQ(b.problem.values[b.late].home, Home::Arena);
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 2 * 4096);
}

TEST(HostInResults, SeesThroughCancellingPermutationsOnly) {
  TiedEmbedding b;
  b.problem.values[b.turnedBack].same = none;
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[b.early].home, Home::Arena);
}

TEST(HostInResults, NeedsASingleReader) {
  TiedEmbedding b;
  ValueId other = b.fusible({point(b.early)}, matrix);
  b.result(other);
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[b.early].home, Home::Arena);
}

TEST(HostInResults, LeavesOutWhatNeedNotWait) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId gradient = b.contraction({memory(x)}, matrix);
  b.result(b.fusible({point(x), point(gradient)}, matrix));
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[gradient].home, Home::Arena);
}

TEST(HostInResults, BufferIsNotReadAfterItsResultIsWritten) {
  TiedEmbedding b;
  hostInResults(b.problem);
  // The sum in a kernel of its own reads the guest before the result stands.
  Plan plan = b.plan();
  plan.kernels.back() = b.kernel({b.turned, b.turnedBack, b.sum}, {b.sum});
  plan.kernels.push_back(b.kernel(b.updated));
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
  // A second run reads what the first one has overwritten.
  plan = b.plan();
  plan.kernels.push_back(b.updateKernel());
  EXPECT_THAT(validate(b.problem, plan, false).error,
              HasSubstr("lies in the buffer of value"));
}

TEST(HostInResults, IsOverwrittenElementByElementOnly) {
  TiedEmbedding b;
  hostInResults(b.problem);
  b.problem.values[b.turnedBack].same = none;
  EXPECT_THAT(validate(b.problem, b.plan(), false).error,
              HasSubstr("lies in the buffer of value"));
}

TEST(HostInResults, ChecksTheRelation) {
  TiedEmbedding b;
  hostInResults(b.problem);
  b.problem.values[b.early].bytes -= 4;
  EXPECT_THAT(check(b.problem), HasSubstr("no later result as large"));
  b = TiedEmbedding();
  hostInResults(b.problem);
  b.problem.values[b.middle].home = Home::Hosted;
  b.problem.values[b.middle].host = b.updated;
  EXPECT_THAT(check(b.problem), HasSubstr("taken"));
}

} // namespace
