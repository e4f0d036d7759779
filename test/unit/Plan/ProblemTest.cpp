//===- ProblemTest.cpp - Problems that are refused, and reference figures -===//

#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include "ckpt/Plan/Validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ckpt::plan;
using testing::HasSubstr;

namespace {

class ProblemTest : public testing::Test, protected ProblemBuilder {
protected:
  ValueId x = argument(matrix);
  ValueId a = fusible({point(x)}, matrix);
  ValueId turned = view(a, Access::Permute, transposed);
  ValueId product = contraction({memory(turned)}, matrix);
};

TEST_F(ProblemTest, AcceptsWhatIsWellFormed) { EXPECT_EQ(check(problem), ""); }

TEST_F(ProblemTest, RefusesIndicesOutOfRange) {
  opOf(a).reads[0].value = 99;
  EXPECT_EQ(check(problem), "op 0 reads a value that does not exist");
  opOf(a).reads[0].value = product;
  EXPECT_EQ(check(problem), "op 0 reads value 3 before it is made");
  opOf(a).reads[0].value = x;
  opOf(a).results[0] = -1;
  EXPECT_EQ(check(problem), "op 0 makes a value that does not exist");
  opOf(a).results[0] = a;
  opOf(a).layer = 0;
  EXPECT_EQ(check(problem), "op 0 is in a layer that does not exist");
}

TEST_F(ProblemTest, RefusesWrongProducers) {
  opOf(product).results.push_back(a);
  EXPECT_THAT(check(problem), HasSubstr("another producer"));
  opOf(product).results.clear();
  EXPECT_EQ(check(problem), "value 3 is not among the results of its op");
  problem.values[product].op = none;
  EXPECT_EQ(check(problem), "value 3 is no argument, but no op makes it");
  problem.values[product].op = 2;
  problem.values[product].home = Home::Argument;
  EXPECT_EQ(check(problem), "value 3 is an argument, but op 2 makes it");
}

TEST_F(ProblemTest, RefusesWrongShapes) {
  problem.values[turned].shape = row;
  EXPECT_EQ(check(problem), "");
  problem.values[turned].elements = 32;
  EXPECT_THAT(check(problem), HasSubstr("another number of elements"));
  problem.values[a].shape = flat;
  EXPECT_THAT(check(problem), HasSubstr("point by point"));
  problem.values[x].elements = 7;
  EXPECT_THAT(check(problem), HasSubstr("but its shape has 7"));
}

TEST_F(ProblemTest, RefusesViewsThatAreNone) {
  opOf(turned).reads.push_back(opOf(turned).reads[0]);
  EXPECT_THAT(check(problem), HasSubstr("exactly one read"));
  opOf(turned).reads.pop_back();
  opOf(a).reads[0].access = Access::Reshape;
  EXPECT_THAT(check(problem), HasSubstr("only views have"));
}

TEST_F(ProblemTest, RefusesFiguresOutOfRange) {
  problem.values[a].bytes = -1;
  EXPECT_THAT(check(problem), HasSubstr("negative size"));
  problem.values[a].bytes = INT64_MAX;
  EXPECT_THAT(check(problem), HasSubstr("exceeds the sum"));
  problem.values[a].bytes = 1;
  opOf(a).flops = INT64_MAX / 4;
  EXPECT_EQ(check(problem), "");
  opOf(product).flops = 1;
  EXPECT_THAT(check(problem), HasSubstr("negative cost or exceeds the sum"));
  problem.bytesPerMicrosecond = 0;
  EXPECT_EQ(check(problem), "the bandwidth is not positive");
}

TEST_F(ProblemTest, RefusesEffectsThatMayRepeat) {
  opOf(product).hasEffects = true;
  EXPECT_THAT(check(problem), HasSubstr("has effects"));
}

TEST_F(ProblemTest, RandomProblemsAreWellFormed) {
  for (uint64_t seed = 0; seed < 2000; ++seed)
    ASSERT_EQ(check(randomProblem(seed)), "") << "seed " << seed;
}

TEST(AsWritten, CountsValuesFromMakerToLastReader) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.contraction({memory(x)}, matrix);
  ValueId c = b.contraction({memory(a)}, matrix);
  ValueId d = b.contraction({memory(c), memory(a)}, matrix);
  ValueId e = b.contraction({memory(d)}, matrix);
  b.result(e);
  b.opOf(a).flops = 5;
  AsWritten written = asWritten(b.problem);
  EXPECT_EQ(written.peakBytes, 3 * 4096);
  EXPECT_EQ(written.bytesMoved, (2 + 2 + 3 + 2) * 4096);
  EXPECT_EQ(written.flops, 5);
}

TEST(AsWritten, ReshapesShareStorageAndPermutationsCopy) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.contraction({memory(x)}, matrix);
  ValueId reshaped = b.view(a, Access::Reshape, flat);
  ValueId c = b.contraction({memory(reshaped)}, scalar);
  b.result(c);
  EXPECT_EQ(asWritten(b.problem).peakBytes, 4096);
  ValueId turned = b.view(reshaped, Access::Permute, flat);
  b.result(b.contraction({memory(turned)}, scalar));
  EXPECT_EQ(asWritten(b.problem).peakBytes, 2 * 4096);
}

TEST(AsWritten, OverwritesWhatDies) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId fill = b.fusible({any(x)}, matrix);
  ValueId product = b.contraction({memory(x), destination(fill)}, matrix);
  ValueId act = b.fusible({point(product), any(x)}, matrix);
  ValueId sum = b.contraction({memory(act)}, scalar);
  b.result(sum);
  EXPECT_EQ(asWritten(b.problem).peakBytes, 4096);
  // Not if it is read in another way too, or still needed.
  b.opOf(act).reads.push_back(any(product));
  EXPECT_EQ(asWritten(b.problem).peakBytes, 2 * 4096);
  b.opOf(act).reads.pop_back();
  b.opOf(sum).reads.push_back(memory(fill));
  EXPECT_EQ(asWritten(b.problem).peakBytes, 2 * 4096);
}

} // namespace
