//===- ResultAliasingTest.cpp - Values that wait in buffers of results
//-----===//

#include "ProblemBuilder.h"
#include "ckpt/Plan/Solvers.h"
#include "ckpt/Plan/Validate.h"
#include "gmock/gmock.h"

using namespace ckpt::plan;
using testing::ElementsAre;
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

TEST(ResultAliasing, HostsWhatWaitsLongest) {
  TiedEmbedding b;
  Plan plan = b.plan();
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 3 * 4096);
  hostInResults(b.problem);
  EXPECT_EQ(check(b.problem), "");
  EXPECT_EQ(b.problem.values[b.early].host, b.updated);
  EXPECT_EQ(b.problem.values[b.late].home, Home::Arena);
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 2 * 4096);
}

TEST(ResultAliasing, SeesThroughCancellingPermutationsOnly) {
  TiedEmbedding b;
  b.problem.values[b.turnedBack].same = none;
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[b.early].home, Home::Arena);
}

/// What another result is made of too may lie in the buffer of the later one.
TEST(ResultAliasing, HostsInTheLastResult) {
  TiedEmbedding b;
  ValueId other = b.fusible({point(b.early)}, matrix);
  b.result(other);
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[b.early].host, other);
}

TEST(ResultAliasing, LeavesOutWhatIsReadAfterAllResults) {
  TiedEmbedding b;
  b.result(b.contraction({memory(b.early)}, row));
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[b.early].home, Home::Arena);
}

TEST(ResultAliasing, LeavesOutWhatNeedNotWait) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId gradient = b.contraction({memory(x)}, matrix);
  b.result(b.fusible({point(x), point(gradient)}, matrix));
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[gradient].home, Home::Arena);
}

/// The gradient of an embedding: two scatters, one after the other, add to a
/// zero. No kernel makes their sum and the updated weight at once.
TEST(ResultAliasing, HostsSumsOfOpaqueOpsWithTheirZero) {
  ProblemBuilder b;
  ValueId weight = b.argument(matrix), rows = b.argument(matrix);
  ValueId zero = b.fusible({}, matrix);
  ValueId some = b.opaque({any(rows), destination(zero)}, matrix);
  ValueId all = b.opaque({any(rows), destination(some)}, matrix);
  ValueId updated = b.fusible({point(weight), point(all)}, matrix);
  b.result(updated);
  Plan plan;
  plan.kernels = {b.kernel(zero), b.kernel(some), b.kernel(all),
                  b.kernel(updated)};
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 4096);
  hostInResults(b.problem);
  EXPECT_EQ(check(b.problem), "");
  for (ValueId value : {zero, some, all})
    EXPECT_EQ(b.problem.values[value].host, updated);
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 0);
}

/// The zero that another op reads later is no zero any more in the buffer.
TEST(ResultAliasing, LeavesOutADestinationThatOthersRead) {
  ProblemBuilder b;
  ValueId zero = b.fusible({}, matrix);
  ValueId sum = b.opaque({any(b.argument(matrix)), destination(zero)}, matrix);
  b.result(b.fusible({point(sum)}, matrix));
  b.result(b.contraction({memory(zero)}, row));
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[zero].home, Home::Arena);
  EXPECT_EQ(b.problem.values[sum].home, Home::Hosted);
}

/// An op updates its second destination into its second result.
TEST(ResultAliasing, LeavesOutADestinationOfAnotherResult) {
  ProblemBuilder b;
  ValueId read = b.fusible({}, matrix), written = b.fusible({}, matrix);
  ValueId sum = b.opaque({destination(read), destination(written)}, matrix);
  b.result(b.addResult(matrix));
  b.result(b.fusible({point(read), point(sum)}, matrix));
  hostInResults(b.problem);
  EXPECT_EQ(b.problem.values[written].home, Home::Arena);
  EXPECT_EQ(b.problem.values[sum].home, Home::Hosted);
}

TEST(ResultAliasing, BufferIsNotReadAfterItsResultIsWritten) {
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

TEST(ResultAliasing, IsOverwrittenElementByElementOnly) {
  TiedEmbedding b;
  hostInResults(b.problem);
  b.problem.values[b.turnedBack].same = none;
  EXPECT_THAT(validate(b.problem, b.plan(), false).error,
              HasSubstr("lies in the buffer of value"));
}

TEST(ResultAliasing, ChecksTheRelation) {
  TiedEmbedding b;
  hostInResults(b.problem);
  b.problem.values[b.early].bytes -= 4;
  EXPECT_THAT(check(b.problem), HasSubstr("no later result as large"));
  b = TiedEmbedding();
  hostInResults(b.problem);
  b.problem.values[b.middle].home = Home::Hosted;
  b.problem.values[b.middle].host = b.updated;
  EXPECT_THAT(check(b.problem), HasSubstr("not only read to make the next"));
}

/// Gradients that are scaled by the norm of both; each changes a moment and,
/// with that, a weight.
struct ClippedUpdate : ProblemBuilder {
  ValueId norm;
  std::vector<ValueId> gradients, moments, weights;

  explicit ClippedUpdate(int count = 2) {
    for (int i = 0; i < count; ++i)
      gradients.push_back(contraction({memory(argument(matrix))}, matrix));
    std::vector<Read> reads;
    for (ValueId gradient : gradients)
      reads.push_back(any(gradient));
    norm = reduction(std::move(reads), row);
    for (ValueId gradient : gradients) {
      moments.push_back(fusible(
          {point(argument(matrix)), point(gradient), any(norm)}, matrix));
      result(moments.back());
    }
    for (int i = 0; i < count; ++i) {
      weights.push_back(fusible(
          {point(argument(matrix)), point(gradients[i]), point(moments[i])},
          matrix));
      result(weights.back());
    }
  }
};

TEST(ResultAliasing, HostsWhatSeveralResultsComeFrom) {
  ClippedUpdate b;
  hostInResults(b.problem);
  EXPECT_EQ(check(b.problem), "");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(b.problem.values[b.gradients[i]].host, b.weights[i]);
  Solution solution = solveUnlimited(b.problem, SolverOptions());
  EXPECT_EQ(solution.verdict.error, "");
  EXPECT_EQ(solution.plan.arenaBytes,
            slotBytes(b.problem.values[b.norm].bytes));
  // Once a new weight is written its gradient is gone.
  Plan plan;
  for (ValueId value : {b.gradients[0], b.gradients[1], b.norm, b.moments[0],
                        b.moments[1], b.weights[0], b.weights[1]})
    plan.kernels.push_back(b.kernel(value));
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
  std::swap(plan.kernels[3], plan.kernels[5]);
  plan.kernels[3] = b.kernel({b.moments[0], b.weights[0]}, {b.weights[0]});
  EXPECT_THAT(validate(b.problem, plan, false).error,
              HasSubstr("is written before it is dead"));
}

/// The norm is read by all of them, but no result is made in its place.
TEST(ResultAliasing, ResultsThatShareScalarsStandAlone) {
  ClippedUpdate b(4);
  hostInResults(b.problem);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(b.problem.values[b.gradients[i]].host, b.weights[i]);
}

/// The gradient of a weight that is read four times: a sum of four products,
/// each of which needs the one before.
struct SharedWeight : ProblemBuilder {
  ValueId weight, rate, scaled, updated;
  std::vector<ValueId> froms, parts, sums;

  explicit SharedWeight(bool turned = false) {
    weight = argument(matrix);
    ValueId from = weight, sum = none;
    for (int i = 0; i < 4; ++i) {
      from = contraction({memory(from)}, matrix);
      froms.push_back(from);
      parts.push_back(contraction({memory(from)}, matrix));
      ValueId part = parts.back();
      if (turned)
        part = view(part, Access::Permute, transposed);
      int32_t shape = turned ? transposed : matrix;
      sum = i == 0 ? part : fusible({point(sum), point(part)}, shape);
      sums.push_back(sum);
    }
    // A learning rate, which waits for nothing, is no part of the sum.
    int32_t shape = turned ? transposed : matrix;
    rate = fusible({}, shape);
    if (turned)
      weight = argument(transposed);
    scaled = fusible({point(sum), point(rate)}, shape);
    updated = fusible({point(weight), point(scaled)}, shape);
    result(updated);
  }
  std::vector<ValueId> guests() const {
    std::vector<ValueId> found;
    for (size_t value = 0; value < problem.values.size(); ++value)
      if (problem.values[value].host == updated)
        found.push_back(static_cast<ValueId>(value));
    return found;
  }
};

TEST(ResultAliasing, HostsPartialSumsOneAfterTheOther) {
  SharedWeight b;
  hostInResults(b.problem);
  EXPECT_EQ(check(b.problem), "");
  // The last sum need not wait for anything but the update.
  EXPECT_THAT(b.guests(), ElementsAre(b.parts[0], b.sums[1], b.sums[2]));
  Solution solution = solveUnlimited(b.problem, SolverOptions());
  ASSERT_EQ(solution.verdict.error, "");
  // Without hosts a sum stands beside what the next product is made from.
  EXPECT_EQ(solution.plan.arenaBytes, 2 * 4096);
}

TEST(ResultAliasing, HostsSumsOfTurnedParts) {
  SharedWeight b(/*turned=*/true);
  hostInResults(b.problem);
  EXPECT_EQ(check(b.problem), "");
  EXPECT_THAT(b.guests(), ElementsAre(b.sums[1], b.sums[2]));
}

TEST(ResultAliasing, SumsAreOverwrittenByTheNextOnly) {
  SharedWeight b;
  hostInResults(b.problem);
  Plan plan;
  for (int i = 0; i < 4; ++i) {
    plan.kernels.push_back(b.kernel(b.froms[i]));
    if (i == 0)
      plan.kernels.push_back(b.kernel(b.parts[0]));
    else
      plan.kernels.push_back(b.kernel({b.parts[i], b.sums[i]}, {b.sums[i]}));
  }
  plan.kernels.push_back(b.kernel({b.rate, b.scaled, b.updated}, {b.updated}));
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
  // The first part again, while the sum of two lies there.
  Plan again = plan;
  again.kernels.insert(again.kernels.begin() + 4, b.kernel(b.parts[0]));
  EXPECT_THAT(validate(b.problem, again, false).error,
              HasSubstr("is written before it is dead"));
  // A sum that reads other elements of the one before than it writes.
  b.opOf(b.sums[2]).reads[0].access = Access::Any;
  EXPECT_THAT(validate(b.problem, plan, false).error,
              HasSubstr("is written before it is dead"));
}

} // namespace
