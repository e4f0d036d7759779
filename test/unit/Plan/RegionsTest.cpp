//===- RegionsTest.cpp - Budgets of parts of a problem --------------------===//
//
// Random steps whose ops are dealt out to layers, and budgets of one region or
// of two that are nested. A recount that shares nothing with the simulator says
// what a region takes.
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"
#include "TextOf.h"

#include "ckpt/Check/Check.h"
#include "ckpt/Plan/Certificate.h"
#include "ckpt/Plan/LayerPatterns.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Regions.h"
#include "ckpt/Plan/ResultScratch.h"
#include "ckpt/Plan/Solvers.h"
#include "ckpt/Plan/Text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace ckpt::plan;

namespace {

/// A step of layers a, b and c.
Problem layeredProblem(uint64_t seed) {
  RandomOptions options;
  options.ops = 8 + static_cast<int32_t>(seed % 16);
  options.keeps = false;
  Problem problem = randomProblem(seed, options);
  problem.layers = {"a", "b", "c"};
  for (size_t op = 0; op < problem.ops.size(); ++op)
    problem.ops[op].layer = static_cast<int32_t>((seed + op / 2) % 3);
  return problem;
}

SolverOptions oneRound() {
  SolverOptions options;
  options.timeLimitMs = 0;
  return options;
}

/// Bytes of the arena that values of the region cover, at most: address by
/// address, for each kernel.
int64_t recount(const Problem &problem, const Region &region,
                const Plan &plan) {
  std::set<int32_t> layers(region.layers.begin(), region.layers.end());
  KernelCache kernels(problem);
  int64_t most = 0;
  size_t count = plan.kernels.size();
  for (size_t k = 0; k < count; ++k) {
    std::map<int64_t, int64_t> places;
    for (size_t made = 0; made <= k; ++made)
      for (size_t i = 0; i < plan.kernels[made].outputs.size(); ++i) {
        ValueId id = plan.kernels[made].outputs[i];
        const Value &value = problem.values[id];
        if (value.home != Home::Arena ||
            !layers.count(problem.ops[value.op].layer))
          continue;
        bool stands = made == k;
        for (size_t later = made + 1; later < count && !stands; ++later) {
          const auto &reads = kernels.get(plan.kernels[later]).memoryReads;
          const auto &writes = plan.kernels[later].outputs;
          stands |=
              later >= k && std::count(reads.begin(), reads.end(), id) > 0;
          // From there on another instance is read.
          if (std::count(writes.begin(), writes.end(), id))
            break;
        }
        if (stands)
          places[plan.kernels[made].offsets[i]] = slotBytes(value.bytes);
      }
    int64_t bytes = 0;
    for (auto [offset, size] : places)
      bytes += size;
    most = std::max(most, bytes);
  }
  return most;
}

/// Gives \p problem a region of layer `a`, or one of `a` and `b` around it,
/// too, with \p percent of what they take in \p unlimited.
void addRegions(Problem &problem, const Solution &unlimited, bool nested,
                int64_t percent) {
  problem.regions = {{"a", {0}, 1}};
  if (nested)
    problem.regions.push_back({"a and b", {0, 1}, 1});
  Verdict verdict = unlimited.verdict;
  measureRegions(problem, verdict);
  for (size_t i = 0; i < problem.regions.size(); ++i)
    problem.regions[i].budgetBytes =
        std::max<int64_t>(1, verdict.regionPeakBytes[i] * percent / 100);
}

TEST(Regions, TakeWhatARecountSays) {
  int positive = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = layeredProblem(seed);
    Solution unlimited = solveUnlimited(problem, oneRound());
    ASSERT_EQ(unlimited.verdict.error, "");
    addRegions(problem, unlimited, /*nested=*/true, 100);
    Verdict verdict = unlimited.verdict;
    EXPECT_EQ(measureRegions(problem, verdict), "");
    for (size_t i = 0; i < problem.regions.size(); ++i) {
      int64_t taken = recount(problem, problem.regions[i], unlimited.plan);
      EXPECT_EQ(verdict.regionPeakBytes[i], taken);
      positive += taken > 0;
      Verdict seen = validate(regionView(problem, problem.regions[i]),
                              withoutSlots(unlimited.plan), /*slots=*/false);
      EXPECT_EQ(seen.error, "");
      EXPECT_LE(seen.timeNs, unlimited.verdict.timeNs);
      EXPECT_LE(seen.livePeakBytes, taken);
    }
  }
  EXPECT_GT(positive, 200);
}

TEST(Regions, AreKeptOrSayWhatTheyNeed) {
  int kept = 0, changed = 0, withheld = 0;
  for (uint64_t seed = 0; seed < 150; ++seed)
    for (int64_t percent : {100, 75, 50}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Problem problem = layeredProblem(seed);
      Solution unlimited = solveUnlimited(problem, oneRound());
      addRegions(problem, unlimited, seed % 2, percent);
      int64_t budget = unlimited.plan.arenaBytes;
      BudgetResult result = solveBudget(problem, budget, oneRound());
      Bound bound(problem);
      if (!result.best) {
        ASSERT_TRUE(result.shortage);
        Region &region = problem.regions[result.shortage->region];
        EXPECT_GE(result.shortage->smallestBytes,
                  bound.minimumRegionBytes(result.shortage->region));
        EXPECT_GT(result.shortage->smallestBytes, region.budgetBytes);
        ++withheld;
        continue;
      }
      const Solution &best = *result.best;
      EXPECT_EQ(validate(problem, best.plan, /*slots=*/true).error, "");
      EXPECT_LE(best.plan.arenaBytes, budget);
      for (size_t i = 0; i < problem.regions.size(); ++i) {
        int64_t taken = recount(problem, problem.regions[i], best.plan);
        EXPECT_LE(taken, problem.regions[i].budgetBytes);
        EXPECT_LE(bound.minimumRegionBytes(static_cast<int32_t>(i)), taken);
      }
      EXPECT_LE(bound.extraFlops(budget), best.verdict.extraFlops);
      ++kept;
      changed += best.verdict.timeNs > unlimited.verdict.timeNs;
    }
  std::cout << kept << " kept, " << changed << " of them at a price, "
            << withheld << " not\n";
  EXPECT_GT(kept, 200);
  EXPECT_GT(changed, 20);
  EXPECT_GT(withheld, 20);
}

TEST(Regions, BoundsHoldForPlansWithScratchInResults) {
  int hosted = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = layeredProblem(seed);
    Solution unlimited = solveUnlimited(problem, oneRound());
    addRegions(problem, unlimited, seed % 2, /*percent=*/40);
    problem.scratchInResults = true;
    int64_t budget = unlimited.plan.arenaBytes * 3 / 5;
    std::optional<Solution> best =
        solveBudget(problem, budget, oneRound()).best;
    if (!best)
      continue;
    EXPECT_EQ(validate(problem, best->plan, /*slots=*/true).error, "");
    Bound bound(problem);
    EXPECT_LE(bound.extraFlops(budget + mostScratchBytes(problem)),
              best->verdict.extraFlops);
    for (size_t i = 0; i < problem.regions.size(); ++i)
      EXPECT_LE(minimumArenaBytes(
                    problem, bound.minimumRegionBytes(static_cast<int32_t>(i))),
                best->verdict.regionPeakBytes[i]);
    hosted += scratchBytes(problem, best->plan) > 0;
  }
  EXPECT_GT(hosted, 5);
}

TEST(Regions, ThatAreAloneGetTheSmallestBudgetThatTheyAreTold) {
  int asked = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = layeredProblem(seed);
    Solution unlimited = solveUnlimited(problem, oneRound());
    addRegions(problem, unlimited, /*nested=*/false, 30);
    int64_t budget = unlimited.plan.arenaBytes;
    BudgetResult result = solveBudget(problem, budget, oneRound());
    if (!result.shortage)
      continue;
    problem.regions[0].budgetBytes = result.shortage->smallestBytes;
    EXPECT_TRUE(solveBudget(problem, budget, oneRound()).best);
    ++asked;
  }
  EXPECT_GT(asked, 20);
}

TEST(Regions, AreHeldByTheSimulatorAndTheChecker) {
  int refused = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = layeredProblem(seed);
    Solution plan = solveUnlimited(problem, oneRound());
    addRegions(problem, plan, seed % 2, 100);
    int64_t within = plan.plan.arenaBytes;
    ckpt::check::Claims claims;
    EXPECT_EQ(ckpt::check::checkCertificate(
                  certify(problem, plan, within, Bound(problem)),
                  textOf(problem), claims),
              "");
    int64_t &bytes = problem.regions[0].budgetBytes;
    if (bytes <= slotAlignment)
      continue;
    --bytes;
    std::string expected = "region 'a' takes " + std::to_string(bytes + 1) +
                           " bytes, but has a budget of " +
                           std::to_string(bytes);
    std::string simulated = validate(problem, plan.plan, /*slots=*/true).error;
    EXPECT_NE(simulated.find(expected), std::string::npos) << simulated;
    std::string checked = ckpt::check::checkCertificate(
        certify(problem, plan, within, Bound(problem)), textOf(problem),
        claims);
    EXPECT_NE(checked.find(expected), std::string::npos) << checked;
    ++refused;
  }
  EXPECT_GT(refused, 30);
}

TEST(Regions, StandInTheText) {
  Problem problem = layeredProblem(3), again;
  problem.regions = {{"a \"b\"", {0, 1}, 512}, {"b", {1}, 256}};
  std::string error;
  ASSERT_TRUE(parseProblem(textOf(problem), again, error)) << error;
  EXPECT_EQ(textOf(again), textOf(problem));
  ASSERT_EQ(again.regions.size(), 2u);
  EXPECT_EQ(again.regions[0].name, "a \"b\"");
}

TEST(Regions, HaveRules) {
  Problem problem = layeredProblem(3);
  auto faultOf = [&](std::vector<Region> regions) {
    problem.regions = std::move(regions);
    return check(problem);
  };
  EXPECT_EQ(faultOf({{"r", {0, 1}, 1}, {"s", {0, 1, 2}, 1}}), "");
  EXPECT_EQ(faultOf({{"r", {0}, 1}, {"s", {1, 2}, 1}}), "");
  EXPECT_EQ(faultOf({{"r", {0, 1}, 1}, {"s", {1, 2}, 1}}),
            "region 's' overlaps region 'r', but neither holds the other: both "
            "hold 'b'");
  EXPECT_EQ(faultOf({{"r", {0}, 0}}),
            "region 'r' has a budget that is not positive");
  for (const std::vector<int32_t> &layers :
       {std::vector<int32_t>(), {3}, {-1}, {1, 0}, {1, 1}})
    EXPECT_EQ(faultOf({{"r", layers, 1}}),
              "region 'r' has no layers that exist, each once and ascending");
}

TEST(LayerPatterns, MatchAsTheShellDoes) {
  std::vector<std::string> layers = {"wte", "h/0/ln_1", "h/0/attn", "h/1/attn"};
  using Indices = std::vector<int32_t>;
  EXPECT_EQ(matchLayers("h/*/attn", layers), (Indices{2, 3}));
  EXPECT_EQ(matchLayers("*ln_*", layers), (Indices{1}));
  EXPECT_EQ(matchLayers("!wte", layers), (Indices{1, 2, 3}));
  EXPECT_EQ(matchLayers("h/[1-9]/*", layers), (Indices{3}));
  EXPECT_EQ(matchLayers("attn", layers), Indices());
  EXPECT_EQ(matchLayers("!*", layers), Indices());
}

} // namespace
