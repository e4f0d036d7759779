//===- AsWrittenTest.cpp - The program before planning --------------------===//
//
// `asWritten` counts by storages, `solveAsWritten` makes kernels and the
// simulator counts. They are written apart and have to agree.
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "TrainingStep.h"

#include "ckpt/Plan/Solvers.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

constexpr int64_t matrixBytes = 4096;

TEST(AsWritten, CountsWhatIsLiveAtOnce) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.result(b.contraction({memory(third), memory(first)}, matrix));
  AsWritten figures = asWritten(b.problem);
  // While the third is made, all three stand.
  EXPECT_EQ(figures.peakBytes, 3 * matrixBytes);
  // Reads: 1 + 1 + 1 + 2; writes: 4.
  EXPECT_EQ(figures.bytesMoved, 9 * matrixBytes);
}

TEST(AsWritten, AddsUpTheWorkOfAllOps) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId unread = b.contraction({memory(x)}, matrix);
  b.opOf(unread).flops = 100;
  ValueId out = b.fusible({point(x)}, matrix);
  b.opOf(out).flops = 7;
  b.result(out);
  EXPECT_EQ(asWritten(b.problem).flops, 107);
}

TEST(AsWritten, CountsWhatAGatherTakes) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  b.result(b.fusible({gather(x), point(b.argument(row))}, row));
  EXPECT_EQ(asWritten(b.problem).bytesMoved, 3 * 128);
}

TEST(AsWritten, OverwritesAnInputThatDies) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.contraction({memory(x)}, matrix);
  ValueId mapped = b.fusible({point(made)}, matrix);
  b.result(b.contraction({memory(mapped)}, matrix));
  EXPECT_EQ(asWritten(b.problem).peakBytes, matrixBytes);
}

TEST(AsWritten, KeepsAnInputThatIsReadOutOfPlace) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.contraction({memory(x)}, matrix);
  ValueId mapped = b.fusible({point(made), any(made)}, matrix);
  b.result(b.contraction({memory(mapped)}, matrix));
  EXPECT_EQ(asWritten(b.problem).peakBytes, 2 * matrixBytes);
}

TEST(AsWritten, UpdatesADestinationThatDies) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId init = b.fusible({point(x)}, matrix);
  ValueId product = b.contraction({memory(x), destination(init)}, matrix);
  b.result(b.contraction({memory(product)}, matrix));
  EXPECT_EQ(asWritten(b.problem).peakBytes, matrixBytes);
}

TEST(AsWritten, ReshapesShareAndPermutationsCopy) {
  for (Access access : {Access::Reshape, Access::Permute}) {
    ProblemBuilder b;
    ValueId x = b.argument(matrix);
    ValueId made = b.contraction({memory(x)}, matrix);
    ValueId seen =
        b.view(made, access, access == Access::Reshape ? flat : transposed);
    b.result(b.contraction({memory(seen)}, matrix));
    AsWritten figures = asWritten(b.problem);
    int64_t copies = access == Access::Permute;
    EXPECT_EQ(figures.peakBytes, (1 + copies) * matrixBytes);
    EXPECT_EQ(figures.bytesMoved, (4 + 2 * copies) * matrixBytes);
  }
}

TEST(AsWritten, PaddingTakesMemory) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.contraction({memory(x)}, row);
  ValueId padded = b.view(made, Access::Any, matrix);
  b.result(b.contraction({memory(padded)}, matrix));
  EXPECT_EQ(asWritten(b.problem).peakBytes, elementsOf(row) * 4 + matrixBytes);
}

TEST(AsWritten, AViewKeepsItsSourceAlive) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.contraction({memory(x)}, matrix);
  ValueId seen = b.view(made, Access::Reshape, flat);
  ValueId other = b.contraction({memory(x)}, matrix);
  b.result(b.contraction({memory(seen), memory(other)}, matrix));
  EXPECT_EQ(asWritten(b.problem).peakBytes, 2 * matrixBytes);
}

TEST(SolveAsWritten, MakesOneKernelPerOpInProgramOrder) {
  Problem problem = TrainingStep(3).problem;
  Solution solution = solveAsWritten(problem);
  ASSERT_EQ(solution.verdict.error, "");
  ASSERT_EQ(solution.plan.kernels.size(), problem.ops.size());
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    EXPECT_EQ(solution.plan.kernels[op].ops,
              std::vector<OpId>{static_cast<OpId>(op)});
    EXPECT_EQ(solution.plan.kernels[op].outputs, problem.ops[op].results);
  }
  EXPECT_EQ(solution.verdict.extraFlops, 0);
}

TEST(SolveAsWritten, ReadsThroughViews) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.contraction({memory(x)}, matrix);
  ValueId seen = b.view(made, Access::Permute, transposed);
  ValueId out = b.contraction({memory(seen)}, matrix);
  b.result(out);
  Solution solution = solveAsWritten(b.problem);
  ASSERT_EQ(solution.verdict.error, "");
  ASSERT_EQ(solution.plan.kernels.size(), 2u);
  EXPECT_EQ(
      solution.plan.kernels[1].ops,
      (std::vector<OpId>{b.problem.values[seen].op, b.problem.values[out].op}));
}

TEST(SolveAsWritten, CopiesAPermutationForAContiguousRead) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.contraction({memory(x)}, matrix);
  ValueId turned = b.view(made, Access::Permute, transposed);
  ValueId seen = b.view(turned, Access::Reshape, flat);
  b.result(b.opaque({contiguous(seen)}, matrix));
  Solution solution = solveAsWritten(b.problem);
  ASSERT_EQ(solution.verdict.error, "");
  ASSERT_EQ(solution.plan.kernels.size(), 3u);
  EXPECT_EQ(solution.plan.kernels[1].outputs, std::vector<ValueId>{turned});
}

/// Without views both count the same: each op reads and writes memory once.
TEST(SolveAsWritten, AgreesWithTheFiguresOfTheProgram) {
  Problem problem = TrainingStep(4).problem;
  Solution solution = solveAsWritten(problem);
  AsWritten figures = asWritten(problem);
  EXPECT_EQ(solution.verdict.bytesMoved, figures.bytesMoved);
  EXPECT_EQ(solution.verdict.livePeakBytes, figures.peakBytes);
  EXPECT_GE(solution.plan.arenaBytes, figures.peakBytes);
}

TEST(SolveAsWritten, IsValidForRandomProblems) {
  RandomOptions options;
  options.ops = 12;
  options.keeps = false;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Problem problem = randomProblem(seed, options);
    Solution solution = solveAsWritten(problem);
    EXPECT_EQ(solution.verdict.error, "") << "seed " << seed;
    EXPECT_EQ(solution.verdict.extraFlops, 0) << "seed " << seed;
  }
}

} // namespace
