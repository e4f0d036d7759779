//===- KernelLowerBoundTest.cpp - Bytes that a kernel must read -----------===//

#include "Plan/Bounds/KernelLowerBound.h"
#include "ProblemBuilder.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// Three gathers read half of the argument each: all of it, or three halves
/// where the argument costs more. The proof takes no more of its extra bytes.
TEST(KernelLowerBound, TakesOnlyTheExtraBytesThatItsProofNeeds) {
  ProblemBuilder b;
  ValueId argument = b.argument(matrix);
  std::vector<Read> parts;
  for (int i = 0; i < 3; ++i)
    parts.push_back(point(b.fusible({gather(argument)}, part)));
  ValueId sum = b.fusible(parts, part);
  b.result(sum);
  RematGraph graph(b.problem, true);
  KernelLowerBound bound(graph);
  const int64_t all = b.problem.values[argument].bytes;
  KernelLowerBound::Reads reads = bound.read(
      none, {sum}, [&](ValueId value) { return value == argument ? all : 0; });
  EXPECT_EQ(reads.bytes, all);
  EXPECT_EQ(reads.raised, all + all / 2);
  ASSERT_EQ(reads.used.size(), 1u);
  EXPECT_EQ(reads.used.front(), std::make_pair(argument, all / 2));
}

} // namespace
