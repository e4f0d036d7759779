//===- ExplainTest.cpp - Why a plan needs its bytes -----------------------===//

#include "ProblemBuilder.h"

#include "ckpt/Plan/Explain.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

TEST(DescribeBudget, SaysInfeasibleOnlyWithProof) {
  std::string open = describeBudget(100, 200, 100);
  EXPECT_NE(open.find("no plan was found"), std::string::npos);
  EXPECT_NE(open.find("not proven infeasible"), std::string::npos);
  EXPECT_NE(open.find("is 200 bytes"), std::string::npos);
  EXPECT_NE(open.find("less than 100 bytes"), std::string::npos);
  std::string proven = describeBudget(99, 200, 100);
  EXPECT_NE(proven.find("is proven infeasible"), std::string::npos);
  EXPECT_NE(proven.find("found is 200 bytes"), std::string::npos);
  std::string closed = describeBudget(99, 100, 100);
  EXPECT_NE(closed.find("the least possible is 100 bytes"), std::string::npos);
}

/// x -> a -> b -> c, of which the last product also reads a.
struct ExplainTest : testing::Test, ProblemBuilder {
  ValueId x = argument(matrix);
  ValueId a = contraction({memory(x)}, matrix);
  ValueId b = contraction({memory(a)}, matrix);
  ValueId c = contraction({memory(b)}, matrix);
  ValueId d = contraction({memory(c), memory(a)}, matrix);

  std::map<ValueId, Holder> holders() {
    result(d);
    opOf(b).workspaceBytes = 0;
    opOf(c).workspaceBytes = 1000;
    Plan plan;
    for (ValueId value : {a, b, c, d})
      plan.kernels.push_back(kernel(value));
    Verdict verdict = validate(problem, plan, false);
    EXPECT_EQ(verdict.error, "");
    EXPECT_EQ(verdict.peakKernel, 2);
    std::map<ValueId, Holder> holders;
    int64_t bytes = 0;
    for (const HeldAtPeak &held : explainPeak(problem, plan, verdict)) {
      holders[held.value] = held.holder;
      bytes += held.bytes;
      EXPECT_EQ(held.reader, problem.values[held.value == a ? d : c].op);
    }
    EXPECT_EQ(bytes, verdict.livePeakBytes);
    return holders;
  }
};

TEST_F(ExplainTest, TellsTheKernelFromALaterReader) {
  std::map<ValueId, Holder> expected = {{a, Holder::Reader},
                                        {b, Holder::Kernel},
                                        {c, Holder::Kernel},
                                        {none, Holder::Kernel}};
  EXPECT_EQ(holders(), expected);
}

TEST_F(ExplainTest, NamesAPin) {
  problem.values[a].keep = Keep::Save;
  EXPECT_EQ(holders()[a], Holder::Pin);
}

TEST_F(ExplainTest, NamesAnOpThatRunsOnce) {
  problem.values[a].keep = Keep::Save;
  opOf(a).mayRepeat = false;
  EXPECT_EQ(holders()[a], Holder::Once);
}

TEST_F(ExplainTest, FindsTheLargestWorkingSet) {
  opOf(c).workspaceBytes = 100000;
  result(d);
  WorkingSet largest = largestWorkingSet(problem);
  EXPECT_EQ(largest.op, problem.values[c].op);
  Bound bound(problem);
  EXPECT_EQ(bound.minimumCause().kind, MinimumCause::Kind::Kernel);
  EXPECT_EQ(bound.minimumCause().op, largest.op);
  EXPECT_NE(describeBound(problem, bound), "");
}

} // namespace
