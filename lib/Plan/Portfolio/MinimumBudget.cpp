//===- MinimumBudget.cpp - The smallest plan ------------------------------===//
//
// Runs if no plan fits the budget. List schedules come first, then walks that
// recompute nothing and shrink move by move, then, for small steps, a search in
// which only memory counts. Each part has a share of the limit, counted from
// its begin, so that work before the search changes no plan.
//
//===----------------------------------------------------------------------===//

#include "Plan/Portfolio/MinimumBudget.h"

#include "Plan/Construct/KeepCut/CutDraft.h"
#include "Plan/Construct/List/QuickPlan.h"
#include "Plan/Construct/Pebble/PebblePlan.h"
#include "Plan/Model/RunBoth.h"
#include "Plan/Portfolio/BudgetSearch.h"

#include <array>
#include <utility>

using namespace ckpt::plan;

void MinimumSearch::keep(Solution solution, const char *subSolver) {
  if (!solution.verdict.error.empty() ||
      solution.plan.arenaBytes >= smallest.plan.arenaBytes)
    return;
  smallest = std::move(solution);
  smallest.subSolver = subSolver;
}

/// When \p share of the limit is over from now, or all of the limit.
Deadline MinimumSearch::part(double share) const {
  return clock.in(std::clamp(1 - clock.share(), 0.0, share));
}

/// Shares of the plan that recomputes nothing, until nothing fits them.
void MinimumSearch::runLadder() {
  constexpr std::array<double, 5> shares = {0.75, 0.5, 0.35, 0.25, 0.18};
  if (!options.allows(part::listLadder))
    return;
  auto all = static_cast<double>(smallest.plan.arenaBytes);
  for (double share : shares) {
    if (isEnough() || clock.isOver())
      return;
    std::optional<Solution> smaller =
        placedQuickPlan(graph, static_cast<int64_t>(share * all), options);
    if (!smaller)
      return;
    keep(std::move(*smaller), part::listLadder);
  }
}

/// \p plan changed kernel by kernel until it needs less, many times: by a
/// quarter of its bytes above the largest kernel, then by less.
Plan MinimumSearch::shrunk(Plan plan, MemoryOptions fit) const {
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
Plan MinimumSearch::plainWalk() const {
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

/// Several ways down from \p plan, for \p share of the limit: with other prices
/// each, as they end far from each other.
void MinimumSearch::shrink(const Plan &plan, double share) {
  constexpr int patience = 3;
  if (!options.allows(part::shrink) || !options.fusion || isEnough())
    return;
  const Deadline until = part(share);
  uint64_t seed = 0;
  for (int inVain = 0; inVain < patience && !isEnough() && !until.isOver();
       ++inVain) {
    MemoryOptions light, heavy;
    light.deadline = heavy.deadline = until;
    light.seed = seed++;
    heavy.seed = seed++;
    heavy.flopNs = flopNs;
    auto [first, second] = runBoth(
        problem.ops.size(), [&] { return shrunk(plan, light); },
        [&] { return shrunk(plan, heavy); });
    for (Plan *each : {&first, &second}) {
      Draft draft;
      draft.verdict = validate(problem, *each, /*slots=*/false);
      draft.plan = std::move(*each);
      if (draft.verdict.livePeakBytes >= smallest.plan.arenaBytes)
        continue;
      int64_t before = smallest.plan.arenaBytes;
      keep(assignOffsets(problem, draft, draft.verdict.livePeakBytes,
                         PackEffort::Search, until),
           part::shrink);
      if (smallest.plan.arenaBytes < before)
        inVain = -1;
    }
  }
}

/// Where nothing fits, what repeating costs does not matter any more.
void MinimumSearch::runPebble(double share) {
  if (!options.allows(part::pebble) || !options.fusion || isEnough())
    return;
  if (std::optional<Solution> found =
          solvePebble(graph, largestWorkingSet(problem).bytes, enough,
                      smallest.plan.arenaBytes, part(share)))
    keep(std::move(*found), part::pebble);
}

Solution MinimumSearch::run(int64_t enoughBytes) {
  constexpr double shareOfWalk = 0.3, shareOfPebble = 0.3, shareOfRest = 0.2;
  enough = enoughBytes;
  if (smallest.plan.kernels.empty())
    return smallest;
  runLadder();
  if (isTooLargeToWalk(graph) || isEnough())
    return smallest;
  shrink(plainWalk(), shareOfWalk);
  runPebble(shareOfPebble);
  shrink(withoutSlots(smallest.plan), shareOfRest);
  return smallest;
}
