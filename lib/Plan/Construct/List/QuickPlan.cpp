//===- QuickPlan.cpp - A few cuts, a few schedules ------------------------===//
//
// A run without a limit shows the tightest moment. Cuts there, and at the next
// moments that exceed the budget, choose the values to keep. The schedule of
// least time is finished and given slots. Every search starts with it; it looks
// at no clock.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/List/QuickPlan.h"

#include "Plan/Construct/KeepCut/CutScheduler.h"
#include "Plan/Construct/KeepCut/RootOrder.h"
#include "Plan/Construct/List/GuideLoop.h"
#include "Plan/Improve/MergeMove.h"
#include "Plan/Model/RunBoth.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

using namespace ckpt::plan;

namespace {

class QuickPlanner {
public:
  using Found = GuideLoop::Found;

  /// \p goalBytes: the limit of the arena.
  QuickPlanner(const RematGraph &graph, const SolverOptions &options,
               const CostWeights &weights, int64_t goalBytes)
      : graph(graph), goal(goalBytes), problem(graph.problem),
        kernels(graph.problem), moreKernels(graph.problem),
        order(orderRoots(graph, options.reorder)),
        byWeights(graph, order, weights, GuideLoop::Relief::Weights, kernels),
        byGuides(graph, order, weights, GuideLoop::Relief::Guides,
                 moreKernels) {}

  /// Plans within \p budgetBytes, the best first; few, and none if none was
  /// found. Findings for a larger budget are used again.
  std::vector<Found> plans(int64_t budgetBytes);
  /// \p plan without launches that it can do without.
  Draft finish(Plan plan) { return finish(std::move(plan), kernels); }
  /// Looks for places for the slots of \p plans, one after the other, until an
  /// arena fits.
  void place(const std::vector<Found> &plans, PackEffort effort);

  /// The cheapest plan that fits so far.
  std::optional<Solution> fitting;
  int64_t fittingCost = unlimitedBytes;
  /// The smallest arena of the last plans that were placed.
  int64_t smallestBytes = unlimitedBytes;

private:
  using Schedule = GuideLoop::Schedule;

  bool found() const { return byWeights.found() || byGuides.found(); }
  int64_t cost() const { return std::min(byWeights.cost(), byGuides.cost()); }
  Draft finish(Plan plan, KernelCache &kernels) const;
  bool enter(const Found &found, Solution solution);
  void search();
  std::vector<Found> best() const;

  const RematGraph &graph;
  const int64_t goal;
  const Problem &problem;
  /// One for each of two threads.
  KernelCache kernels, moreKernels;
  const std::vector<OpId> order;
  GuideLoop byWeights, byGuides;
  /// Without a limit and a guide.
  std::shared_ptr<const Schedule> free;
  int64_t budget = 0;
};

} // namespace

Draft QuickPlanner::finish(Plan plan, KernelCache &kernels) const {
  Draft draft;
  draft.plan = std::move(plan);
  draft.verdict = mergeKernels(problem, draft.plan,
                               budget < unlimitedBytes ? budget : 0, kernels);
  if (!draft.verdict.error.empty())
    draft.plan = Plan();
  return draft;
}

/// Both ways of relief, one per core and round by round: if one of them is
/// settled, the other one need not go on.
void QuickPlanner::search() {
  bool isNew = true, second = byGuides.start(free, budget), first = second;
  byWeights.follow(byGuides);
  auto doFirst = [&] {
    if (std::exchange(isNew, false))
      byWeights.startFree(free, budget);
    return first && byWeights.doRound();
  };
  while ((first || second || isNew) && !byWeights.isSettled() &&
         !byGuides.isSettled())
    std::tie(first, second) = runBoth(graph.roots.size(), doFirst, [&] {
      return second && byGuides.doRound();
    });
}

/// The best plans of both searches.
std::vector<GuideLoop::Found> QuickPlanner::best() const {
  const size_t most = isTooLargeToWalk(graph) ? 1 : 2;
  std::vector<const Found *> found;
  for (const GuideLoop *search : {&byWeights, &byGuides})
    for (const Found &plan : search->plans())
      found.push_back(&plan);
  std::stable_sort(found.begin(), found.end(), [](auto *left, auto *right) {
    return left->cost < right->cost;
  });
  // The same plan often comes from both.
  found.erase(std::unique(found.begin(), found.end(),
                          [](auto *left, auto *right) {
                            return left->cost == right->cost;
                          }),
              found.end());
  found.resize(std::min(found.size(), most));
  std::vector<Found> plans;
  for (const Found *plan : found)
    plans.push_back(*plan);
  const Found &first = byWeights.loosest(), &second = byGuides.loosest();
  const Found &loose = first.cost < second.cost ? first : second;
  if (loose.cost < unlimitedBytes && !fitting)
    plans.push_back(loose);
  return plans;
}

std::vector<GuideLoop::Found> QuickPlanner::plans(int64_t budgetBytes) {
  // Limits below which guides are chosen soon.
  constexpr size_t someRoots = 500;
  constexpr double near = 1.15;
  if (!graph.error.empty())
    return {};
  budget = budgetBytes;
  if (!free)
    free = std::make_shared<const Schedule>(byWeights.runFree());
  if (!free->complete)
    return {};
  if (free->peakBytes <= budget)
    return {{free->plan, 0, false}};
  const int64_t before = cost();
  if (found())
    runBoth(
        graph.roots.size(), [&] { return byWeights.tighten(budget); },
        [&] { return byGuides.tighten(budget); });
  if (!found() ||
      (graph.roots.size() < someRoots &&
       static_cast<double>(cost()) > near * static_cast<double>(before)))
    search();
  return best();
}

/// Enters the plan that was \p found if \p solution, its slots, fit; whether
/// they do.
bool QuickPlanner::enter(const Found &found, Solution solution) {
  if (solution.plan.kernels.empty() || !solution.verdict.error.empty())
    return false;
  int64_t bytes = solution.plan.arenaBytes;
  if (!found.isLoose)
    smallestBytes = std::min(smallestBytes, bytes);
  if (goal > 0 && bytes > goal)
    return false;
  if (found.cost < fittingCost) {
    fittingCost = found.cost;
    fitting = std::move(solution);
  }
  return true;
}

/// Two at a time, but for searches, which take both cores by themselves.
void QuickPlanner::place(const std::vector<Found> &plans, PackEffort effort) {
  const size_t atOnce = effort == PackEffort::Orders ? 2 : 1;
  auto placed = [&](size_t i, KernelCache &kernels) {
    Draft draft;
    if (i < plans.size())
      draft = finish(plans[i].plan, kernels);
    return draft.usable()
               ? assignOffsets(problem, std::move(draft), goal, effort, kernels)
               : Solution();
  };
  smallestBytes = unlimitedBytes;
  bool fits = false;
  for (size_t i = 0; i < plans.size() && !fits; i += atOnce) {
    auto [first, second] = runBoth(
        graph.roots.size(), [&] { return placed(i, kernels); },
        [&] { return atOnce > 1 ? placed(i + 1, moreKernels) : Solution(); });
    fits = enter(plans[i], std::move(first));
    if (i + 1 < plans.size())
      fits |= enter(plans[i + 1], std::move(second));
  }
}

Draft ckpt::plan::quickPlan(const RematGraph &graph, int64_t budgetBytes,
                            const SolverOptions &options,
                            const CostWeights &weights) {
  constexpr int mostTries = 4;
  QuickPlanner planner(graph, options, weights, budgetBytes);
  int64_t cap = budgetBytes;
  for (int i = 0; i < mostTries; ++i) {
    int64_t excess = 0;
    for (QuickPlanner::Found &found : planner.plans(cap)) {
      Draft draft = planner.finish(std::move(found.plan));
      if (!draft.usable())
        continue;
      if (draft.verdict.livePeakBytes <= budgetBytes)
        return draft;
      excess = std::max(excess, draft.verdict.livePeakBytes - budgetBytes);
    }
    if (excess == 0)
      break;
    // A schedule assumes some takeovers that the rules of kernels do not allow;
    // then it has to stay below its limit.
    cap -= excess;
  }
  return Draft();
}

std::optional<Solution>
ckpt::plan::placedQuickPlan(const RematGraph &graph, int64_t budgetBytes,
                            const SolverOptions &options) {
  // Few where something fits, though it costs much more.
  constexpr int mostTries = 6, fewTries = 4;
  constexpr size_t manyKernels = 600;
  constexpr double near = 1.08;
  // Without a limit, as small as it gets.
  bool isLimited = budgetBytes != INT64_MAX;
  // Slots of large steps leave some gap, and planning once more takes long.
  const bool isLarge = isTooLargeToWalk(graph);
  int64_t spare = isLimited ? budgetBytes / (isLarge ? 512 : 1024) : 0;
  int64_t cap = budgetBytes - (isLarge ? spare : 0);
  int64_t usableCap = cap;
  QuickPlanner planner(graph, options, CostWeights(),
                       isLimited ? budgetBytes : 0);
  // Whether no plan much better than the best is to be expected.
  auto isDone = [&](int64_t cost) {
    return planner.fitting && static_cast<double>(planner.fittingCost) <=
                                  near * static_cast<double>(cost);
  };
  for (int i = 0; i < mostTries; ++i) {
    std::vector<QuickPlanner::Found> plans = planner.plans(cap);
    bool isEnough = planner.fitting && (plans.empty() || i >= fewTries);
    if (isEnough || (plans.empty() && i == 0))
      break;
    if (plans.empty()) {
      // Between this and a sufficient limit there may be another plan.
      cap += (usableCap - cap) / 2;
      continue;
    }
    usableCap = cap;
    // To search for places takes longer than to plan again, but for few slots.
    const bool fewSlots = plans.front().plan.kernels.size() < manyKernels;
    const PackEffort effort =
        isLimited && fewSlots ? PackEffort::Once : PackEffort::Orders;
    const int64_t cost = plans.front().cost;
    planner.place(plans, effort);
    if ((planner.smallestBytes == unlimitedBytes && !planner.fitting) ||
        isDone(cost))
      break;
    // Other plans have other gaps: a little less, so that few are needed.
    int64_t excess = planner.smallestBytes - budgetBytes;
    cap -=
        std::clamp(excess, isLarge ? 0 : budgetBytes / 64, budgetBytes / 16) +
        spare;
  }
  return std::move(planner.fitting);
}
