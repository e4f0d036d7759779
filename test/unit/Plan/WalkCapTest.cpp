//===- WalkCapTest.cpp - The search for the cap of one setting ------------===//

#include "Plan/Portfolio/BudgetSearch.h"

#include <gtest/gtest.h>

#include <random>

using namespace ckpt::plan;

namespace {

constexpr int64_t budget = 1'000'000;

Attempt attemptWith(double cap) {
  Attempt attempt;
  attempt.cap = cap;
  return attempt;
}

/// Whether it goes on after a walk whose plan needs \p bytes; none if the walk
/// gave up.
bool goesOn(Attempt &attempt, std::optional<int64_t> bytes,
            bool anyPlan = false) {
  attempt.bytes = bytes;
  chooseNextCap(attempt, budget, anyPlan);
  return !attempt.finished;
}

TEST(WalkCap, EndsWhereThePlanUsesTheBudget) {
  Attempt attempt = attemptWith(budget);
  EXPECT_FALSE(goesOn(attempt, budget - budget / 1000));
}

TEST(WalkCap, GoesUpWithRoomAndDownWithout) {
  Attempt roomy = attemptWith(budget);
  EXPECT_TRUE(goesOn(roomy, budget / 2));
  EXPECT_GT(roomy.cap, 1.9 * budget);
  Attempt tight = attemptWith(budget);
  EXPECT_TRUE(goesOn(tight, budget + budget / 10));
  EXPECT_LT(tight.cap, 0.99 * budget);
}

TEST(WalkCap, EndsBetweenCloseCaps) {
  Attempt attempt = attemptWith(1000);
  attempt.fits = 995;
  EXPECT_FALSE(goesOn(attempt, budget + 1));
  // Where an op is forbidden to run again, closer.
  attempt = attemptWith(1000);
  attempt.fits = 995;
  attempt.runOnce = {1};
  EXPECT_TRUE(goesOn(attempt, budget + 1));
}

/// A walk gives up once it cannot be better than the best plan.
TEST(WalkCap, EndsWhereAWalkGaveUpAndThereIsAPlan) {
  Attempt first = attemptWith(budget);
  EXPECT_TRUE(goesOn(first, std::nullopt));
  EXPECT_LT(first.cap, budget);
  Attempt later = attemptWith(budget);
  EXPECT_FALSE(goesOn(later, std::nullopt, /*anyPlan=*/true));
}

/// Plans need more or less than their caps, in steps, as walks decide between
/// whole values. The largest cap that fits is found within a few per cent, by
/// few walks.
TEST(WalkCap, FindsTheLargestCapThatFits) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    double factor = 0.7 + static_cast<double>(random() % 600) / 1000;
    double step = 1 + static_cast<double>(random() % 20000);
    auto needs = [&](double cap) {
      return static_cast<int64_t>(factor * std::floor(cap / step) * step);
    };
    Attempt attempt = attemptWith(budget);
    int walks = 0;
    do {
      ASSERT_LT(++walks, 30) << round;
    } while (goesOn(attempt, needs(attempt.cap)));
    EXPECT_GT(attempt.fits, 0.97 * budget / factor) << round;
    EXPECT_LE(needs(attempt.fits), budget) << round;
  }
}

} // namespace
