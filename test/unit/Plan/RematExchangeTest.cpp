//===- RematExchangeTest.cpp - Something cheaper made again -------------===//

#include "Plan/Improve/RematExchange.h"
#include "ProblemBuilder.h"

#include "ckpt/Plan/Validate.h"

#include <gtest/gtest.h>

#include <optional>

using namespace ckpt::plan;

namespace {

constexpr int64_t matrixBytes = 4096;

/// What \p plan becomes within \p matrices; nothing if it stays.
std::optional<Plan> exchange(const Problem &problem, const Plan &plan,
                             int64_t matrices, bool mayTake = true) {
  Verdict before = validate(problem, plan, false);
  EXPECT_EQ(before.error, "");
  EXPECT_LE(before.livePeakBytes, matrices * matrixBytes);
  MemoryOptions options;
  options.budgetBytes = matrices * matrixBytes;
  options.mostNs = static_cast<double>(before.timeNs);
  std::optional<Plan> taken;
  exchangeRemats(problem, plan, options, [&](const Plan &better) {
    Verdict after = validate(problem, better, false);
    EXPECT_EQ(after.error, "");
    EXPECT_LE(after.livePeakBytes, options.budgetBytes);
    EXPECT_LT(after.timeNs, before.timeNs);
    if (mayTake)
      taken = better;
    return mayTake;
  });
  return taken;
}

/// Either `dear` or `cheap` has to go while `second` is made.
TEST(RematExchange, RepeatsWhatIsCheaper) {
  ProblemBuilder b;
  ValueId thin = b.contraction({memory(b.argument(matrix))}, row);
  ValueId dear = b.contraction({memory(b.argument(matrix))}, matrix);
  b.opOf(dear).computePs = 100'000'000;
  ValueId cheap = b.fusible({any(thin)}, matrix);
  ValueId first = b.contraction({memory(dear), memory(cheap)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId last =
      b.contraction({memory(second), memory(dear), memory(cheap)}, row);
  b.result(thin);
  b.result(last);
  Plan plan;
  for (ValueId value : {thin, dear, cheap, first, second, dear, last})
    plan.kernels.push_back(b.kernel(value));
  EXPECT_FALSE(exchange(b.problem, plan, 3, /*mayTake=*/false));
  std::optional<Plan> better = exchange(b.problem, plan, 3);
  ASSERT_TRUE(better);
  EXPECT_EQ(runsOf(b.problem, *better, dear), 1);
  EXPECT_EQ(runsOf(b.problem, *better, cheap), 2);
}

/// Two kernels compute `dear` on the way to different results.
TEST(RematExchange, WritesWhatAnAnchorMakesTheFirstTime) {
  ProblemBuilder b;
  ValueId dear = b.contraction({memory(b.argument(matrix))}, matrix);
  b.opOf(dear).computePs = 100'000'000;
  ValueId left = b.fusible({point(dear)}, matrix);
  ValueId right = b.fusible({point(dear)}, matrix);
  b.result(left);
  b.result(right);
  Plan plan;
  plan.kernels = {b.kernel({dear, left}, {left}),
                  b.kernel({dear, right}, {right})};
  EXPECT_FALSE(exchange(b.problem, plan, 0));
  std::optional<Plan> better = exchange(b.problem, plan, 1);
  ASSERT_TRUE(better);
  EXPECT_EQ(runsOf(b.problem, *better, dear), 1);
}

} // namespace
