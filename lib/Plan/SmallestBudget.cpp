//===- SmallestBudget.cpp - Where nothing fits a budget -------------------===//
//
// The answer is then the smallest budget for which a plan was found. Plans for
// it come from walks within budgets a little above what some kernel needs
// alone, from walks with caps that are shares of the plan that recomputes
// nothing, and from a search in which only memory counts. None of them depends
// on the budget that was asked for, so that a budget reported as the smallest
// is one for which planning succeeds.
//
//===----------------------------------------------------------------------===//

#include "BudgetSearch.h"
#include "FirstPlan.h"
#include "KeepBetween.h"
#include "SmallestPlan.h"
#include "ckpt/Plan/Explain.h"

#include <array>
#include <cmath>
#include <utility>

using namespace ckpt::plan;

/// Whether some kernel alone needs more.
bool BudgetSearch::isHopeless() const {
  return budget < largestWorkingSet(problem).bytes;
}

/// Shares of the plan that recomputes nothing, until nothing fits them.
void BudgetSearch::findSmallestFirstPlan() {
  constexpr std::array<double, 5> shares = {0.75, 0.5, 0.35, 0.25, 0.18};
  if (unlimited.plan.kernels.empty())
    return;
  keepIfSmallest(unlimited);
  double all = static_cast<double>(unlimited.plan.arenaBytes);
  for (double share : shares) {
    std::optional<Solution> smaller =
        placedFirstPlan(graph, static_cast<int64_t>(share * all), options);
    if (!smaller)
      return;
    keepIfSmallest(*smaller);
  }
}

/// The best plan was for another budget.
void BudgetSearch::forgetBest() {
  result.best.reset();
  second = Draft();
  nearMiss = Plan();
  bestScore = bestWalkScore = nearMissScore =
      std::numeric_limits<double>::max();
}

/// Whether walks find a plan within \p capBytes.
bool BudgetSearch::walkWithin(int64_t capBytes) {
  constexpr double shareOfCap = 1.1;
  int64_t asked = std::exchange(budget, capBytes);
  double share = static_cast<double>(watch.ms()) /
                 static_cast<double>(std::max<int64_t>(1, options.timeLimitMs));
  anyPlanUntil = std::min(share + shareOfCap, shareOfClosingIn);
  startAttempts();
  for (int round = 0; round < mostRounds() && !roundsAreOver(); ++round)
    runRound(round);
  bool isFound = result.best.has_value();
  forgetBest();
  anyPlanUntil.reset();
  budget = asked;
  return isFound;
}

/// From what some kernel needs alone up to a budget for which there is a plan,
/// and then between the two.
void BudgetSearch::closeIn() {
  constexpr int mostCaps = 8;
  constexpr double close = 1.02, firstStep = 1.05;
  auto known = [&] {
    int64_t bytes = result.smallest.plan.arenaBytes;
    if (!smallestOfChains.plan.kernels.empty())
      bytes = std::min(bytes, smallestOfChains.plan.arenaBytes);
    return static_cast<double>(bytes);
  };
  double low = static_cast<double>(largestWorkingSet(problem).bytes);
  bool isFound = false;
  double step = firstStep;
  for (int i = 0;
       i < mostCaps && low * close < known() && !isOver(shareOfClosingIn);
       ++i) {
    double cap = isFound ? std::sqrt(low * known()) : low * step;
    if (cap >= known())
      cap = std::sqrt(low * known());
    if (walkWithin(static_cast<int64_t>(cap)))
      isFound = true;
    else
      low = cap;
    step *= step * step;
  }
}

/// Caps and merges depend on the problem alone, so that a budget reported as
/// the smallest is one for which planning succeeds.
void BudgetSearch::runLadder() {
  for (double share : ladderShares)
    for (const Setting &setting : ladderSettings) {
      if (isOver(shareWithoutPlan))
        return;
      WalkLimits now = limits();
      now.kernelsPerNew = 4;
      Draft draft = walks[0].run(
          setting, share * static_cast<double>(unlimitedBytes), 0, now);
      if (!draft.usable())
        continue;
      Solution solution = placeSlots(problem, draft, 0, PackEffort::Orders);
      if (!solution.verdict.error.empty())
        continue;
      keepIfSmallest(solution);
      Outcome outcome = judge(std::move(draft));
      enter(outcome);
    }
}

/// Where nothing fits, what repeating costs does not matter any more.
void BudgetSearch::trySmallest() {
  // The clock has mostly run out where walks found nothing.
  constexpr double beyond = 1.5;
  if (!options.fusion)
    return;
  if (std::optional<Solution> found =
          solveSmallest(graph, result.smallest.plan.arenaBytes,
                        [&] { return isOver(beyond); }))
    keepIfSmallest(*found);
}

/// What the smallest plan makes again is kept where the budget has room.
void BudgetSearch::spareSmallest() {
  constexpr std::array<int64_t, 5> percents = {100, 95, 90, 85, 80};
  if (result.best || result.smallest.plan.arenaBytes > budget)
    return;
  result.best = result.smallest;
  for (int64_t percent : percents) {
    Plan plan = withoutSlots(result.smallest.plan);
    keepBetween(problem, plan, budget / 100 * percent);
    if (enterPlan(std::move(plan)))
      return;
  }
}
