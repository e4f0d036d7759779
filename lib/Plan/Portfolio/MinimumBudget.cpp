//===- MinimumBudget.cpp - The smallest budget with a plan ----------------===//
//
// Runs if no plan fits the budget; the answer is the smallest budget for which
// a plan was found. Its plans come from a walk that recomputes nothing, changed
// kernel by kernel, from walks within budgets a little above the needs of one
// kernel, and, first for small steps, from a search in which only memory
// counts. None of them depends on the user's budget, except that no limit below
// it is tried once more: planning succeeds for a budget reported as the
// smallest.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/List/QuickPlan.h"
#include "Plan/Construct/Pebble/PebblePlan.h"
#include "Plan/Improve/KeepMove.h"
#include "Plan/Model/RunBoth.h"
#include "Plan/Portfolio/BudgetSearch.h"
#include "ckpt/Plan/Bound.h"

#include <array>
#include <cmath>
#include <utility>

using namespace ckpt::plan;

/// Whether all kernels that make a result from nothing can be searched.
bool BudgetSearch::isSmall() const {
  constexpr size_t mostOps = 1500;
  return problem.ops.size() <= mostOps;
}

/// The share of the time that is over.
double BudgetSearch::shareOver() const { return shareOfLimit * clock.share(); }

/// Whether some kernel alone needs more.
bool BudgetSearch::isHopeless() {
  if (!largestKernelBytes)
    largestKernelBytes = largestWorkingSet(problem).bytes;
  return budget < *largestKernelBytes;
}

/// Shares of the plan that recomputes nothing, until nothing fits them.
void BudgetSearch::findSmallestFirstPlan() {
  constexpr std::array<double, 5> shares = {0.75, 0.5, 0.35, 0.25, 0.18};
  Running part(*this, part::listLadder);
  if (unlimited.plan.kernels.empty() || !part)
    return;
  keepIfSmallest(unlimited);
  double all = static_cast<double>(unlimited.plan.arenaBytes);
  for (double share : shares) {
    if (isOver())
      return;
    std::optional<Solution> smaller =
        placedQuickPlan(graph, static_cast<int64_t>(share * all), options);
    if (!smaller)
      return;
    keepIfSmallest(*smaller);
  }
}

/// The best plan was for another budget.
void BudgetSearch::forgetBest() {
  result.best.reset();
  isProven = false;
  others.clear();
  nearMiss = Plan();
  bestScore = bestWalkScore = nearMissScore =
      std::numeric_limits<double>::max();
}

/// Whether walks find a plan within \p capBytes, until \p share of the time is
/// over.
bool BudgetSearch::walkWithin(int64_t capBytes, double share) {
  constexpr double shareOfCap = 1.1;
  int64_t asked = std::exchange(budget, capBytes);
  anyPlanUntil = std::min(shareOver() + shareOfCap, share);
  startAttempts();
  const int mostRounds = clock.isLimited() ? 5 : 1;
  for (int round = 0; round < mostRounds && !roundsAreOver(); ++round)
    runRound();
  bool isFound = result.best.has_value();
  forgetBest();
  anyPlanUntil.reset();
  budget = asked;
  return isFound;
}

/// \p plan changed kernel by kernel until it needs less, many times: by a
/// quarter of its bytes above the largest kernel, then by less.
Plan BudgetSearch::shrunk(Plan plan, MemoryOptions fit) const {
  constexpr int64_t largeStep = 4, smallStep = 32;
  const int64_t low = largestWorkingSet(problem).bytes;
  KernelCache kernels(problem);
  auto peakOf = [&](const Plan &plan) {
    return validate(problem, plan, /*slots=*/false, kernels).livePeakBytes;
  };
  int64_t peak = peakOf(plan);
  for (int64_t step = largeStep; step <= smallStep && !fit.deadline.isOver();) {
    fit.budgetBytes = peak - (peak - low) / step;
    Plan next = plan;
    bool fits = reduceMemory(problem, next, fit, kernels);
    int64_t nextPeak = peakOf(next);
    if (!fits || nextPeak >= peak)
      step *= 2;
    if (nextPeak < peak) {
      plan = std::move(next);
      peak = nextPeak;
    }
  }
  return plan;
}

/// A walk without a limit as it is: values that later moves join and share are
/// hard to take apart again.
Plan BudgetSearch::plainWalk() const {
  if (clock.isOver())
    return unlimitedPlan;
  CutOptions plain;
  plain.floorPrice = 1.5;
  plain.reorder = options.reorder;
  plain.repeatAnchors = false;
  CutScheduler scheduler(graph);
  Draft draft = makeDraft(scheduler, graph, plain, options, 0);
  return draft.usable() ? std::move(draft.plan) : unlimitedPlan;
}

/// Several ways down from \p plan, until \p share of the time is over: with
/// other prices each, as they end far from each other.
void BudgetSearch::shrink(const Plan &plan, double share) {
  constexpr int patience = 3;
  Running part(*this, part::shrink);
  if (!part || !options.fusion || plan.kernels.empty())
    return;
  uint64_t seed = 0;
  for (int inVain = 0; inVain < patience && !isOver(share); ++inVain) {
    MemoryOptions light, heavy;
    light.deadline = heavy.deadline = deadline(share);
    light.seed = seed++;
    heavy.seed = seed++;
    heavy.flopNs = objective.flopNs();
    auto [first, second] = runBoth(
        problem.ops.size(), [&] { return shrunk(plan, light); },
        [&] { return shrunk(plan, heavy); });
    for (Plan *each : {&first, &second}) {
      Draft draft;
      draft.verdict = validate(problem, *each, /*slots=*/false);
      draft.plan = std::move(*each);
      if (draft.verdict.livePeakBytes >= result.smallest.plan.arenaBytes)
        continue;
      Solution solution =
          assignOffsets(problem, draft, draft.verdict.livePeakBytes,
                        PackEffort::Search, deadline(share));
      if (!solution.verdict.error.empty() ||
          solution.plan.arenaBytes >= result.smallest.plan.arenaBytes)
        continue;
      keepIfSmallest(solution);
      inVain = -1;
    }
  }
}

/// Just above the needs of one kernel; if no plan fits there, from the smallest
/// plan down in large steps, as finding a plan takes far less time than not
/// finding one; then between the two. Limits below the user's budget were tried
/// with more.
void BudgetSearch::closeIn(double share) {
  constexpr int mostCaps = 12;
  constexpr double close = 1.02, justAbove = 1.05, stepDown = 0.6,
                   shareOfStep = 0.5;
  Running part(*this, part::closeIn);
  if (!part)
    return;
  auto known = [&] {
    return static_cast<double>(result.smallest.plan.arenaBytes);
  };
  double low = static_cast<double>(largestWorkingSet(problem).bytes);
  int caps = 0;
  auto mayTry = [&] {
    return caps < mostCaps && low * close < known() && !isOver(share);
  };
  auto fits = [&](double cap, double until) {
    ++caps;
    bool wasTried = cap < static_cast<double>(budget);
    if (!wasTried && walkWithin(static_cast<int64_t>(cap), until))
      return true;
    low = cap;
    return false;
  };
  auto between = [&] { return std::sqrt(low * known()); };
  auto soon = [&] { return std::min(share, shareOver() + shareOfStep); };
  if (mayTry() && !fits(std::min(low * justAbove, between()), soon()))
    while (mayTry() && low < stepDown * known())
      if (!fits(stepDown * known(), soon()))
        break;
  while (mayTry())
    fits(between(), share);
}

/// Where nothing fits, what repeating costs does not matter any more.
void BudgetSearch::trySmallest(const Solution &known, double share) {
  Running part(*this, part::pebble);
  if (!part || !options.fusion)
    return;
  if (std::optional<Solution> found =
          solvePebble(graph, largestWorkingSet(problem).bytes,
                      known.plan.arenaBytes, deadline(share)))
    keepIfSmallest(*found);
  result.stoppedByClock |= deadline(share).isOver();
}

/// Drops the remats of the smallest plan for which the budget has room, and
/// asks for them one by one in the remaining time.
void BudgetSearch::spareSmallest() {
  constexpr std::array<int64_t, 5> percents = {100, 95, 90, 85, 80};
  if (result.best || result.smallest.plan.arenaBytes > budget)
    return;
  result.best = result.smallest;
  bestScore = scoreOf(result.best->verdict);
  Running part(*this, part::keepSmallest);
  if (!part)
    return;
  for (int64_t percent : percents) {
    Plan plan = withoutSlots(result.smallest.plan);
    keepValues(problem, plan, budget / 100 * percent, KeepEffort::Exact);
    if (enterPlan(std::move(plan)))
      break;
  }
  refit();
  if (clock.isLimited())
    exchange({withoutSlots(result.best->plan), result.best->verdict});
}

/// For small steps, the search for the smallest plan takes less time than
/// walks, and mostly finds a better one. For large steps, after walks without a
/// plan, the clock has mostly run out.
void BudgetSearch::findSmallest() {
  // Shares of the remaining time.
  constexpr double third = 1.0 / 3, most = 0.8;
  auto until = [&](double part) {
    return shareOver() + part * std::max(0.0, shareOfLimit - shareOver());
  };
  shrink(plainWalk(), until(third));
  if (isSmall()) {
    trySmallest(unlimited, until(third));
    if (result.smallest.plan.arenaBytes > budget)
      closeIn(until(most));
  } else {
    closeIn(until(most));
    if (!result.best)
      trySmallest(result.smallest, until(most));
  }
  if (!result.best && result.smallest.plan.arenaBytes > budget)
    shrink(withoutSlots(result.smallest.plan), until(most));
  spareSmallest();
}
