//===- KernelCacheTest.cpp - What is remembered of kernels ----------------===//

#include "RandomProblem.h"

#include "ckpt/Plan/Kernel.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

void expectSame(const KernelInfo &left, const KernelInfo &right) {
  EXPECT_EQ(left.error, right.error);
  EXPECT_EQ(left.anchor, right.anchor);
  EXPECT_EQ(left.memoryReads, right.memoryReads);
  ASSERT_EQ(left.inPlace.size(), right.inPlace.size());
  for (size_t i = 0; i < left.inPlace.size(); ++i) {
    EXPECT_EQ(left.inPlace[i].input, right.inPlace[i].input);
    EXPECT_EQ(left.inPlace[i].output, right.inPlace[i].output);
  }
  EXPECT_EQ(left.bytesMoved, right.bytesMoved);
  EXPECT_EQ(left.flops, right.flops);
  EXPECT_EQ(left.workspaceBytes, right.workspaceBytes);
  EXPECT_EQ(left.timeNs, right.timeNs);
}

/// Few ops and outputs in all combinations, so that kernels share most of what
/// they are recognized by.
TEST(KernelCache, SaysWhatAnalysisSays) {
  std::mt19937_64 random(1);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomProblem(seed);
    KernelCache cache(problem);
    for (int round = 0; round < 100; ++round) {
      Kernel kernel;
      for (size_t op = 0; op < problem.ops.size(); ++op) {
        if (random() % 3 != 0)
          continue;
        kernel.ops.push_back(static_cast<OpId>(op));
        for (ValueId result : problem.ops[op].results)
          if (random() % 2 == 0)
            kernel.outputs.push_back(result);
      }
      expectSame(cache.get(kernel), analyze(problem, kernel));
    }
  }
}

/// Pointers of what was asked first stay good while the cache grows.
TEST(KernelCache, StaysValid) {
  Problem problem = randomProblem(1);
  KernelCache cache(problem);
  Kernel kernel;
  kernel.ops = {0};
  kernel.outputs = problem.ops[0].results;
  const KernelInfo &first = cache.get(kernel);
  for (OpId op = 0; op < static_cast<OpId>(problem.ops.size()); ++op)
    cache.get({{op}, problem.ops[op].results, {}, -1});
  EXPECT_EQ(&cache.get(kernel), &first);
}

} // namespace
