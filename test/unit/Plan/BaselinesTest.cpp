//===- BaselinesTest.cpp - Published strategies on our kernels ------------===//

#include "RandomProblem.h"
#include "TrainingStep.h"

#include "Baselines/Knapsack.h"
#include "ckpt/Plan/Baselines.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

void expectLegal(const Problem &problem, std::string_view name,
                 const BaselineCurve &curve) {
  for (const BaselinePoint &point : curve.points) {
    Verdict verdict = validate(problem, point.solution.plan, /*slots=*/true);
    EXPECT_EQ(verdict.error, "") << name << ", " << point.setting;
  }
}

/// Demands may contradict each other (the first backward op reads what is to
/// be recomputed), and DTR may run out of memory; nothing else may go wrong.
bool isHonest(const std::string &refused) {
  return refused.find("no plan meets its demands") != std::string::npos ||
         refused.find("out of memory") != std::string::npos;
}

TEST(Baselines, AreLegalOnRandomProblems) {
  RandomOptions options;
  options.ops = 12;
  options.keeps = false;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Problem problem = randomProblem(seed, options);
    for (std::string_view name : baselineNames()) {
      BaselineCurve curve = baselineCurve(problem, name, std::nullopt, {});
      expectLegal(problem, name, curve);
      for (const std::string &refused : curve.refused)
        EXPECT_TRUE(isHonest(refused))
            << name << ", seed " << seed << ", " << refused;
    }
  }
}

TEST(Baselines, AreLegalOnTrainingSteps) {
  for (int32_t blocks : {1, 4, 9}) {
    Problem problem = TrainingStep(blocks).problem;
    for (std::string_view name : baselineNames()) {
      BaselineCurve curve = baselineCurve(problem, name, std::nullopt, {});
      EXPECT_EQ(curve.error, "") << name;
      EXPECT_FALSE(curve.points.empty()) << name;
      expectLegal(problem, name, curve);
    }
  }
}

TEST(Baselines, StayWithinTheirBudgets) {
  Problem problem = TrainingStep(6).problem;
  int64_t unlimited = solveUnlimited(problem, {}).plan.arenaBytes;
  int64_t budget = unlimited * 3 / 4;
  for (std::string_view name : baselineNames()) {
    Solution solution = solveBaseline(problem, name, budget, {});
    EXPECT_EQ(solution.verdict.error.empty(), !solution.plan.kernels.empty())
        << name;
    EXPECT_LE(solution.plan.arenaBytes, budget) << name;
  }
  Solution impossible = solveBaseline(problem, "save-all", budget, {});
  EXPECT_EQ(impossible.verdict.error,
            "strategy 'save-all' has no plan within " + std::to_string(budget) +
                " bytes; its smallest takes " + std::to_string(unlimited) +
                " bytes");
}

TEST(Baselines, SayWhatIsUnknown) {
  Problem problem = TrainingStep(1).problem;
  EXPECT_TRUE(isBaseline("sqrt"));
  EXPECT_FALSE(isBaseline("budget"));
  EXPECT_EQ(solveBaseline(problem, "magic", std::nullopt, {}).verdict.error,
            "unknown strategy 'magic'");
}

struct Taken {
  int64_t bytes = 0, value = 0;
};

Taken sumOf(const std::vector<KnapsackItem> &items,
            const std::vector<char> &taken) {
  Taken sum;
  for (size_t i = 0; i < items.size(); ++i)
    if (taken[i]) {
      sum.bytes += items[i].bytes;
      sum.value += items[i].value;
    }
  return sum;
}

TEST(Knapsack, TakesTheBestSetOfRandomItems) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<KnapsackItem> items(1 + random() % 10);
    for (KnapsackItem &item : items)
      item = {static_cast<int64_t>(random() % 50),
              static_cast<int64_t>(random() % 50)};
    auto capacity = static_cast<int64_t>(random() % 200);
    int64_t best = 0;
    for (uint32_t set = 0; set < 1u << items.size(); ++set) {
      std::vector<char> taken;
      for (size_t i = 0; i < items.size(); ++i)
        taken.push_back(set >> i & 1);
      Taken sum = sumOf(items, taken);
      if (sum.bytes <= capacity)
        best = std::max(best, sum.value);
    }
    Taken exact = sumOf(items, exactKnapsack(items, capacity));
    Taken greedy = sumOf(items, greedyKnapsack(items, capacity));
    EXPECT_EQ(exact.value, best);
    EXPECT_LE(exact.bytes, capacity);
    EXPECT_LE(greedy.value, best);
    EXPECT_LE(greedy.bytes, capacity);
  }
}

/// pytorch#197871: sizes in steps must not exceed the capacity either.
TEST(Knapsack, NeverExceedsLargeCapacities) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<KnapsackItem> items(30);
    int64_t total = 0;
    for (KnapsackItem &item : items) {
      item = {static_cast<int64_t>(random() % 1'000'000'000),
              static_cast<int64_t>(random() % 1000)};
      total += item.bytes;
    }
    EXPECT_LE(sumOf(items, exactKnapsack(items, total / 3)).bytes, total / 3);
  }
}

} // namespace
