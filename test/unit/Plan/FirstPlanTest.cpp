//===- FirstPlanTest.cpp - Plans of generated steps -----------------------===//

#include "FirstPlan.h"
#include "RandomProblem.h"
#include "ckpt/Plan/Generate.h"

#include "gtest/gtest.h"

using namespace ckpt::plan;

namespace {

constexpr int64_t unlimited = INT64_MAX;

class FirstPlans : public testing::TestWithParam<std::string_view> {};

/// Legal, within the budget, and with more work the less memory there is.
TEST_P(FirstPlans, FitTheirBudgets) {
  Problem problem;
  ASSERT_EQ(generateProblem(GetParam(), 2000, problem), "");
  Graph graph(problem, /*fusion=*/true);
  Draft free = firstPlan(graph, unlimited, SolverOptions());
  ASSERT_TRUE(free.usable());
  EXPECT_EQ(free.verdict.extraFlops, 0);
  for (int64_t percent : {90, 70, 50}) {
    int64_t budget = free.verdict.livePeakBytes / 100 * percent;
    Draft draft = firstPlan(graph, budget, SolverOptions());
    ASSERT_TRUE(draft.usable()) << percent << " %";
    Verdict verdict = validate(problem, draft.plan, /*slots=*/false);
    EXPECT_EQ(verdict.error, "");
    EXPECT_LE(verdict.livePeakBytes, budget) << percent << " %";
  }
}

INSTANTIATE_TEST_SUITE_P(All, FirstPlans,
                         testing::ValuesIn(generatedFamilies()),
                         [](auto &info) { return std::string(info.param); });

} // namespace
