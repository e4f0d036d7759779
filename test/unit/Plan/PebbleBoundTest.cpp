//===- PebbleBoundTest.cpp - The least memory, searched from the end ----===//
//
// What no cut at one moment shows, each in the smallest step that has it, and
// never more than exhaustive search finds.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/PebbleBound.h"

#include "LeastLiveBytes.h"
#include "ProblemBuilder.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// What the search proves where nothing is known.
int64_t searchedBytes(const Problem &problem) {
  return searchBackward(RematGraph(problem, true), 0).bytes;
}

void expectLeast(const Problem &problem, int64_t bytes) {
  EXPECT_EQ(leastLiveBytes(problem), bytes);
  EXPECT_EQ(searchedBytes(problem), bytes);
  EXPECT_EQ(Bound(problem).minimumBytes(), bytes);
}

/// Two halves, made one after the other, joined in memory.
struct Halves : ProblemBuilder {
  Halves() {
    ValueId x = argument(matrix);
    left = contraction({memory(x)}, part);
    right = contraction({memory(x)}, part);
  }
  ValueId left, right;
};

/// The gradient of a fused query, key and value is written beside its parts.
TEST(PebbleBound, SeesWhatIsWrittenBesideItsParts) {
  Halves halves;
  ValueId joined =
      halves.fusible({any(halves.left), any(halves.right)}, matrix);
  halves.result(halves.contraction({memory(joined)}, row));
  expectLeast(halves.problem, 2 * 2048 + 4096);
}

/// The product that makes one part writes the sum over the other.
TEST(PebbleBound, KnowsThatASumMayLieOverAPart) {
  Halves halves;
  ValueId sum = halves.fusible({point(halves.left), point(halves.right)}, part);
  halves.result(halves.contraction({memory(sum)}, row));
  expectLeast(halves.problem, 2048);
}

/// What a product needs beside another operand is kept, or made again beside
/// it: either way, something of a matrix stands next to both.
TEST(PebbleBound, SeesWhatHasToBeMadeAgain) {
  ProblemBuilder b;
  auto viaMatrix = [&](ValueId value) {
    return b.contraction({memory(b.contraction({memory(value)}, matrix))},
                         part);
  };
  ValueId first = viaMatrix(b.argument(matrix));
  ValueId second = viaMatrix(first);
  ValueId third = viaMatrix(second);
  b.result(b.contraction({memory(first), memory(second), memory(third)}, row));
  expectLeast(b.problem, 4096 + 3 * 2048);
}

/// A slice of what is read in memory may be read there, or be copied.
TEST(PebbleBound, ReadsThroughViewsOrCopies) {
  ProblemBuilder b;
  ValueId whole = b.contraction({memory(b.argument(matrix))}, matrix);
  ValueId upper = b.view(whole, Access::Any, part);
  ValueId lower = b.view(whole, Access::Any, part);
  ValueId left = b.contraction({memory(upper)}, part);
  b.result(b.contraction({memory(left), memory(lower)}, row));
  expectLeast(b.problem, leastLiveBytes(b.problem));
}

TEST(PebbleBound, IsNeverAboveTheLeast) {
  Comparison comparison;
  compareWithLeast(3000, searchedBytes, comparison);
  EXPECT_GT(comparison.compared, 2900);
}

} // namespace
