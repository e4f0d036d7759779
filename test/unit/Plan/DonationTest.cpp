//===- DonationTest.cpp - Results moved into donated arguments ------------===//

#include "ckpt/Plan/Donation.h"
#include "ProblemBuilder.h"

#include "ckpt/Plan/Pack.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// The writer of a result moves behind the last reader of its argument. There
/// it reads the value that was made again, and the first run of that has no
/// reader left.
TEST(Donation, LeavesNoRunWithoutReaders) {
  ProblemBuilder b;
  ValueId batch = b.argument(row), donated = b.argument(matrix);
  ValueId value = b.reduction({any(batch)}, part);
  ValueId updated = b.contraction({memory(value)}, matrix);
  ValueId loss = b.contraction({memory(value), memory(donated)}, row);
  b.result(updated);
  b.result(loss);
  b.problem.values[updated].host = donated;

  Solution solution;
  for (ValueId made : {value, updated, value, loss})
    solution.plan.kernels.push_back(b.kernel(made));
  KernelCache kernels(b.problem);
  packSlots(b.problem, solution.plan, /*budgetBytes=*/0, PackEffort::Search,
            kernels);
  solution.verdict = validate(b.problem, solution.plan, /*slots=*/true);
  ASSERT_EQ(solution.verdict.error, "");

  int64_t arena = solution.plan.arenaBytes;
  Solution moved = moveForDonations(b.problem, std::move(solution), arena);
  EXPECT_EQ(moved.verdict.error, "");
  EXPECT_EQ(donatedResults(b.problem, moved.plan),
            std::vector<ValueId>{updated});
  EXPECT_EQ(runsOf(b.problem, moved.plan, value), 1);
}

} // namespace
