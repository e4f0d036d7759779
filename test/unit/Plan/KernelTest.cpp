//===- KernelTest.cpp - The rules of kernels, one by one ------------------===//

#include "ProblemBuilder.h"

#include "ckpt/Plan/Kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ckpt::plan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// Pairs as (input, output number).
std::vector<std::pair<ValueId, int32_t>> pairs(const KernelInfo &info) {
  std::vector<std::pair<ValueId, int32_t>> result;
  for (const InPlacePair &pair : info.inPlace)
    result.push_back({pair.input, pair.output});
  return result;
}

class KernelTest : public testing::Test, protected ProblemBuilder {
protected:
  KernelInfo info(const std::vector<ValueId> &inside,
                  std::vector<ValueId> outputs) {
    EXPECT_EQ(check(problem), "");
    return analyze(problem, kernel(inside, std::move(outputs)));
  }
  std::string error(const std::vector<ValueId> &inside,
                    std::vector<ValueId> outputs) {
    return info(inside, std::move(outputs)).error;
  }

  ValueId x = argument(matrix);
  ValueId y = argument(matrix);
};

TEST_F(KernelTest, RefusesMalformedLists) {
  ValueId a = fusible({point(x)}, matrix), b = fusible({point(a)}, matrix);
  EXPECT_THAT(analyze(problem, {{}, {}, {}, -1}).error,
              HasSubstr("without ops"));
  EXPECT_THAT(analyze(problem, {{1, 0}, {a}, {}, -1}).error,
              HasSubstr("not ascending"));
  EXPECT_THAT(analyze(problem, {{7}, {a}, {}, -1}).error,
              HasSubstr("not ascending"));
  EXPECT_THAT(error({a}, {b}), HasSubstr("is not made"));
  EXPECT_THAT(error({a}, {a, a}), HasSubstr("written twice"));
  EXPECT_THAT(error({a}, {}), HasSubstr("without outputs"));
}

TEST_F(KernelTest, ComputesFusibleReadsInside) {
  ValueId a = fusible({point(x)}, matrix);
  ValueId b = fusible({point(a), any(y)}, matrix);
  KernelInfo fused = info({a, b}, {b});
  EXPECT_EQ(fused.error, "");
  EXPECT_EQ(fused.anchor, none);
  EXPECT_THAT(fused.memoryReads, ElementsAre(x, y));
  EXPECT_THAT(info({b}, {b}).memoryReads, ElementsAre(y, a));
}

TEST_F(KernelTest, OutputsWithoutAnchorHaveOneShape) {
  ValueId a = fusible({point(x)}, matrix), b = fusible({any(a)}, row);
  ValueId c = fusible({point(a)}, matrix);
  EXPECT_EQ(error({a, c}, {a, c}), "");
  EXPECT_THAT(error({a, b}, {a, b}), HasSubstr("another shape"));
}

TEST_F(KernelTest, HoldsOneAnchor) {
  ValueId a = contraction({memory(x)}, matrix);
  ValueId b = reduction({any(a)}, row);
  EXPECT_THAT(error({a, b}, {b}), HasSubstr("second anchor"));
}

TEST_F(KernelTest, ContractionReadsMemoryThroughViews) {
  ValueId a = fusible({point(x)}, matrix);
  ValueId view1 = view(a, Access::Permute, transposed);
  ValueId view2 = view(view1, Access::Permute, matrix);
  ValueId product = contraction({memory(view2)}, matrix);
  EXPECT_THAT(info({view1, view2, product}, {product}).memoryReads,
              ElementsAre(a));
  EXPECT_THAT(error({a, view1, view2, product}, {product}),
              HasSubstr("in memory"));
}

TEST_F(KernelTest, ContiguousReadsPassReshapesOnly) {
  ValueId reshaped = view(x, Access::Reshape, flat);
  ValueId permuted = view(x, Access::Permute, transposed);
  ValueId good = contraction({contiguous(reshaped)}, matrix);
  ValueId bad = contraction({contiguous(permuted)}, matrix);
  EXPECT_EQ(error({reshaped, good}, {good}), "");
  EXPECT_THAT(error({permuted, bad}, {bad}), HasSubstr("as it is laid out"));
}

TEST_F(KernelTest, ContractionTakesItsFillInside) {
  ValueId fill = fusible({}, matrix);
  ValueId product = contraction({memory(x), destination(fill)}, matrix);
  EXPECT_EQ(error({fill, product}, {product}), "");
}

TEST_F(KernelTest, ReductionTakesProducersInside) {
  ValueId a = fusible({point(x)}, matrix), sum = reduction({any(a)}, row);
  EXPECT_EQ(error({a, sum}, {sum}), "");
}

TEST_F(KernelTest, EpilogueIsOneToOne) {
  ValueId product = contraction({memory(x)}, matrix);
  ValueId act = fusible({point(product), any(y)}, matrix);
  ValueId wide = fusible({any(product)}, matrix);
  ValueId padded = fusible({aligned(product)}, part);
  EXPECT_EQ(error({product, act}, {act}), "");
  EXPECT_EQ(error({product, act}, {product, act}), "");
  EXPECT_THAT(error({product, wide}, {wide}), HasSubstr("not one to one"));
  EXPECT_THAT(error({product, padded}, {padded}), HasSubstr("not one to one"));
}

TEST_F(KernelTest, EpilogueReadsOtherFusibleOpsFreely) {
  ValueId product = contraction({memory(x)}, matrix);
  ValueId bias = fusible({any(y)}, row);
  ValueId act = fusible({point(product), any(bias)}, matrix);
  EXPECT_EQ(error({product, bias, act}, {act}), "");
}

TEST_F(KernelTest, EpiloguePathsPassTheSameViews) {
  ValueId product = contraction({memory(x)}, matrix);
  ValueId first = view(product, Access::Permute, transposed);
  ValueId second = view(product, Access::Permute, transposed);
  ValueId square = fusible({point(first), point(first)}, transposed);
  ValueId mixed = fusible({point(first), point(second)}, transposed);
  EXPECT_EQ(error({product, first, square}, {square}), "");
  EXPECT_THAT(error({product, first, second, mixed}, {mixed}),
              HasSubstr("different views"));
}

TEST_F(KernelTest, EpilogueMayNotSlice) {
  ValueId product = contraction({memory(x)}, matrix);
  ValueId slice = view(product, Access::Aligned, part);
  EXPECT_THAT(error({product, slice}, {slice}), HasSubstr("not one to one"));
}

TEST_F(KernelTest, OutputsDependOnTheAnchor) {
  ValueId a = fusible({point(x)}, matrix);
  ValueId sum = reduction({any(a)}, matrix);
  EXPECT_THAT(error({a, sum}, {a, sum}), HasSubstr("does not depend"));
}

TEST_F(KernelTest, EveryOpIsNeeded) {
  ValueId a = fusible({point(x)}, matrix), b = fusible({point(x)}, matrix);
  EXPECT_THAT(error({a, b}, {b}), HasSubstr("needed for no output"));
}

TEST_F(KernelTest, OpaqueRunsAloneButForReshapes) {
  ValueId reshaped = view(x, Access::Reshape, flat);
  ValueId permuted = view(x, Access::Permute, transposed);
  ValueId loop = opaque({any(reshaped)}, matrix);
  ValueId other = opaque({any(permuted)}, matrix);
  ValueId after = view(loop, Access::Reshape, flat);
  EXPECT_EQ(error({reshaped, loop}, {loop}), "");
  EXPECT_THAT(error({permuted, other}, {other}), HasSubstr("opaque"));
  EXPECT_THAT(error({loop, after}, {after}), HasSubstr("opaque"));
}

TEST_F(KernelTest, EffectsNeedNoOutputs) {
  ValueId print = opaque({any(x)}, scalar);
  opOf(print).mayRepeat = false;
  EXPECT_THAT(error({print}, {}), HasSubstr("without outputs"));
  opOf(print).hasEffects = true;
  EXPECT_EQ(error({print}, {}), "");
}

TEST_F(KernelTest, PointwiseReadsAllowInPlace) {
  ValueId a = fusible({point(x), any(y)}, matrix);
  EXPECT_THAT(pairs(info({a}, {a})), ElementsAre(std::pair(x, 0)));
}

TEST_F(KernelTest, AllReadsOfAnInputKeepThePosition) {
  ValueId a = fusible({point(x), any(x)}, matrix);
  EXPECT_THAT(pairs(info({a}, {a})), IsEmpty());
  ValueId b = fusible({point(x)}, matrix);
  ValueId wide = fusible({any(x)}, matrix);
  EXPECT_THAT(pairs(info({b, wide}, {b, wide})), IsEmpty());
}

TEST_F(KernelTest, InPlaceNeedsEqualElementSizes) {
  ValueId a = fusible({point(x)}, matrix);
  problem.values[a].bytes = 1024;
  EXPECT_THAT(pairs(info({a}, {a})), IsEmpty());
}

TEST_F(KernelTest, InPlaceThroughSliceAndPadding) {
  ValueId slice = view(x, Access::Aligned, part);
  ValueId scaled = fusible({point(slice)}, part);
  ValueId padded = fusible({aligned(scaled)}, matrix);
  EXPECT_THAT(pairs(info({slice, scaled, padded}, {padded})),
              ElementsAre(std::pair(x, 0)));
  // The slice alone is smaller than what it shows.
  EXPECT_THAT(pairs(info({slice, scaled}, {scaled})), IsEmpty());
}

TEST_F(KernelTest, InPlaceThroughReshape) {
  ValueId reshaped = view(x, Access::Reshape, flat);
  ValueId a = fusible({point(reshaped)}, flat);
  EXPECT_THAT(pairs(info({reshaped, a}, {a})), ElementsAre(std::pair(x, 0)));
}

TEST_F(KernelTest, ReshapeOfASliceMovesElements) {
  ValueId slice = view(x, Access::Aligned, part);
  ValueId padded = fusible({aligned(slice)}, matrix);
  ValueId reshaped = view(padded, Access::Reshape, flat);
  ValueId again = fusible({aligned(reshaped)}, matrix);
  EXPECT_THAT(pairs(info({slice, padded, reshaped}, {reshaped})),
              ElementsAre(std::pair(x, 0)));
  // Coordinates of `again` are not those of the reshaped value.
  EXPECT_THAT(pairs(info({slice, padded, reshaped, again}, {again})),
              IsEmpty());
}

TEST_F(KernelTest, PermutationForbidsInPlace) {
  ValueId turned = view(x, Access::Permute, transposed);
  ValueId a = fusible({point(turned)}, transposed);
  EXPECT_THAT(pairs(info({turned, a}, {a})), IsEmpty());
}

TEST_F(KernelTest, AnchorsForbidInPlaceButForDestinations) {
  ValueId product = contraction({memory(x), destination(y)}, matrix);
  ValueId act = fusible({point(product)}, matrix);
  EXPECT_THAT(pairs(info({product}, {product})), ElementsAre(std::pair(y, 0)));
  EXPECT_THAT(pairs(info({product, act}, {act})), ElementsAre(std::pair(y, 0)));
  ValueId square = contraction({memory(y), destination(y)}, matrix);
  EXPECT_THAT(pairs(info({square}, {square})), IsEmpty());
}

TEST_F(KernelTest, EpilogueWritesOverWhatItAdds) {
  ValueId product = contraction({memory(x)}, matrix);
  ValueId sum = fusible({point(product), point(y)}, matrix);
  EXPECT_THAT(pairs(info({product, sum}, {sum})), ElementsAre(std::pair(y, 0)));
  // The raw product is made in the same order, its transpose is not.
  ValueId turned = view(product, Access::Permute, transposed);
  EXPECT_THAT(pairs(info({product, sum}, {product, sum})),
              ElementsAre(std::pair(y, 1)));
  ValueId other = fusible({point(turned), any(y)}, transposed);
  EXPECT_THAT(pairs(info({product, sum, turned, other}, {sum, other})),
              IsEmpty());
}

TEST_F(KernelTest, OutputsInAnotherOrderShareNoInput) {
  ValueId product = contraction({memory(x)}, matrix);
  ValueId turned = view(product, Access::Permute, transposed);
  ValueId flatY = view(y, Access::Reshape, transposed);
  ValueId straight = fusible({point(product), point(y)}, matrix);
  ValueId crossed = fusible({point(turned), point(flatY)}, transposed);
  EXPECT_THAT(pairs(info({product, straight}, {straight})),
              ElementsAre(std::pair(y, 0)));
  EXPECT_THAT(pairs(info({product, turned, flatY, straight, crossed},
                         {straight, crossed})),
              IsEmpty());
}

TEST_F(KernelTest, OpaqueResultsPairWithTheirDestinations) {
  ValueId first = opaque({any(row), destination(x), destination(y)}, matrix);
  opOf(first).reads.erase(opOf(first).reads.begin());
  ValueId second = addResult(matrix);
  EXPECT_THAT(pairs(info({first}, {first, second})),
              ElementsAre(std::pair(x, 0), std::pair(y, 1)));
  ValueId twice = opaque({destination(x), destination(x)}, matrix);
  ValueId other = addResult(matrix);
  EXPECT_THAT(pairs(info({twice}, {twice, other})), IsEmpty());
}

TEST_F(KernelTest, CountsDistinctBytes) {
  ValueId a = fusible({point(x), any(x), point(y)}, matrix);
  EXPECT_EQ(info({a}, {a}).bytesMoved, 3 * 4096);
  ValueId slice = view(x, Access::Aligned, part);
  ValueId half = fusible({point(slice)}, part);
  EXPECT_EQ(info({slice, half}, {half}).bytesMoved, 2048 + 2048);
  ValueId both = fusible({aligned(slice), point(x)}, matrix);
  EXPECT_EQ(info({slice, both}, {both}).bytesMoved, 4096 + 4096);
}

TEST_F(KernelTest, CountsWhatAGatherTakes) {
  ValueId rows = fusible({gather(x)}, row);
  EXPECT_EQ(info({rows}, {rows}).bytesMoved, 128 + 128);
  ValueId twice = fusible({gather(x), gather(x)}, row);
  EXPECT_EQ(info({twice}, {twice}).bytesMoved, 256 + 128);
  // No more than there is, and what is read of a view.
  ValueId all = fusible({gather(x), gather(x)}, flat);
  EXPECT_EQ(info({all}, {all}).bytesMoved, 4096 + 4096);
  ValueId slice = view(x, Access::Aligned, part);
  ValueId few = fusible({gather(slice)}, row);
  EXPECT_EQ(info({slice, few}, {few}).bytesMoved, 128 + 128);
  // An anchor may take each element often.
  ValueId sum = reduction({{x, Access::Gather}}, row);
  EXPECT_EQ(info({sum}, {sum}).bytesMoved, 4096 + 128);
}

TEST_F(KernelTest, CountsEvaluations) {
  ValueId small = fusible({}, row);
  ValueId wide = fusible({any(small)}, matrix);
  opOf(small).flops = 32;
  opOf(small).computePs = 320;
  EXPECT_EQ(info({small}, {small}).flops, 32);
  // Evaluated for each of 1024 elements instead of 32.
  EXPECT_EQ(info({small, wide}, {wide}).flops, 32 * 32);
  ValueId sum = reduction({any(wide)}, row);
  opOf(sum).flops = 1000;
  EXPECT_EQ(info({small, wide, sum}, {sum}).flops, 32 * 32 + 1000);
  ValueId fill = fusible({}, row);
  opOf(fill).flops = 32;
  ValueId started = reduction({any(x), destination(fill)}, row);
  EXPECT_EQ(info({fill, started}, {started}).flops, 32);
}

TEST_F(KernelTest, CountsEvaluationsForEveryHalf) {
  ValueId whole = fusible({point(x)}, matrix);
  opOf(whole).flops = 1024;
  // Readers at the same coordinates share what is made.
  ValueId left = fusible({point(whole)}, matrix);
  ValueId right = fusible({point(whole)}, matrix);
  ValueId sum = fusible({point(left), point(right)}, matrix);
  EXPECT_EQ(info({whole, left, right, sum}, {sum}).flops, 1024);
  // Two halves are two times 512 elements; the halves of halves are joined at
  // the elements of the whole.
  ValueId low = view(whole, Access::Any, part);
  ValueId high = view(whole, Access::Any, part);
  ValueId half = fusible({point(low), point(high)}, part);
  EXPECT_EQ(info({whole, low, high, half}, {half}).flops, 2 * 512);
  ValueId joined = fusible({any(half), any(half)}, matrix);
  EXPECT_EQ(info({whole, low, high, half, joined}, {joined}).flops, 4 * 1024);
  // What is spread is there for all.
  ValueId small = fusible({}, row);
  opOf(small).flops = 32;
  ValueId one = fusible({any(small)}, matrix);
  ValueId two = fusible({any(small), point(one)}, matrix);
  EXPECT_EQ(info({small, one, two}, {two}).flops, 1024);
  // From scan to scan that grows beyond all numbers.
  std::vector<ValueId> ops = {whole, low, high, half, joined};
  for (int level = 0; level < 100; ++level) {
    ops.push_back(fusible({any(ops.back()), any(ops.back())}, matrix));
    opOf(ops.back()).flops = 1024;
  }
  EXPECT_GT(info(ops, {ops.back()}).flops, INT64_MAX / 128);
}

TEST_F(KernelTest, TimeIsTheLargerOfComputeAndMemoryPlusLaunch) {
  problem.bytesPerMicrosecond = 1000;
  problem.launchNs = 5;
  ValueId a = fusible({point(x)}, matrix);
  EXPECT_EQ(info({a}, {a}).timeNs, 8192 + 5);
  opOf(a).computePs = 9000001;
  EXPECT_EQ(info({a}, {a}).timeNs, 9001 + 5);
}

TEST_F(KernelTest, AddsWorkspace) {
  ValueId fill = fusible({}, matrix);
  ValueId product = contraction({memory(x), destination(fill)}, matrix);
  opOf(fill).workspaceBytes = 10;
  opOf(product).workspaceBytes = 300;
  EXPECT_EQ(info({fill, product}, {product}).workspaceBytes, 310);
}

TEST_F(KernelTest, CostsDoNotOverflow) {
  ValueId small = fusible({}, scalar), wide = fusible({any(small)}, matrix);
  opOf(small).flops = opOf(small).computePs = INT64_MAX / 8;
  problem.values[x].bytes = INT64_MAX / 8;
  KernelInfo huge = info({small, wide}, {wide});
  EXPECT_GT(huge.flops, 0);
  EXPECT_GT(huge.timeNs, 0);
}

/// A loop needs a place for all that it makes.
TEST(Kernel, TakesRoomForResultsThatItDoesNotWrite) {
  ProblemBuilder b;
  ValueId first = b.opaque({any(b.argument(matrix))}, matrix);
  ValueId second = b.addResult(row);
  b.opOf(first).workspaceBytes = 512;
  EXPECT_EQ(
      analyze(b.problem, b.kernel({first}, {first, second})).workspaceBytes,
      512);
  EXPECT_EQ(analyze(b.problem, b.kernel({first}, {first})).workspaceBytes,
            512 + 256);
  EXPECT_EQ(analyze(b.problem, b.kernel({first}, {second})).workspaceBytes,
            512 + 4096);
}

} // namespace
