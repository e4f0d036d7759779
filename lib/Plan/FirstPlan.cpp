//===- FirstPlan.cpp - A few cuts, a few schedules ------------------------===//
//
// A run without a limit shows the tightest moment. Cuts there and where the
// budget is exceeded next say what to keep; the schedule of least time is
// finished, and given slots.
//
//===----------------------------------------------------------------------===//

#include "FirstPlan.h"

#include "BlockChain.h"
#include "GuideSearch.h"
#include "PostPasses.h"
#include "RootOrder.h"
#include "RunBoth.h"

#include <algorithm>
#include <tuple>

using namespace ckpt::plan;

namespace {

class FirstPlanner {
public:
  FirstPlanner(const Graph &graph, const SolverOptions &options,
               const CostWeights &weights)
      : graph(graph), problem(graph.problem), kernels(graph.problem),
        order(orderRoots(graph, options.reorder)),
        byWeights(graph, order, weights, GuideSearch::Relief::Weights),
        byGuides(graph, order, weights, GuideSearch::Relief::Guides) {}

  /// A plan within \p budgetBytes, or one that is not usable. What was found
  /// out for a larger budget is used again.
  Draft plan(int64_t budgetBytes);
  /// \p draft with slots.
  Solution place(Draft draft, int64_t goalBytes, PackEffort effort) {
    return placeSlots(problem, std::move(draft), goalBytes, effort, kernels);
  }

private:
  using Schedule = GuideSearch::Schedule;

  GuideSearch &better() {
    return byGuides.cost() < byWeights.cost() ? byGuides : byWeights;
  }
  void search();
  Draft finishBest();
  Draft finish(Schedule schedule);

  const Graph &graph;
  const Problem &problem;
  KernelCache kernels;
  const std::vector<OpId> order;
  GuideSearch byWeights, byGuides;
  /// Without a limit and a guide.
  Schedule free;
  int64_t budget = 0;
};

} // namespace

Draft FirstPlanner::finish(Schedule schedule) {
  Draft draft;
  draft.plan = std::move(schedule.plan);
  if (!schedule.complete)
    return Draft();
  draft.verdict = improve(problem, draft.plan,
                          budget < unlimitedBytes ? budget : 0, kernels);
  if (!draft.verdict.error.empty())
    draft.plan = Plan();
  return draft;
}

/// The schedule takes some outputs to be written over inputs that the rules of
/// kernels do not allow; then it needs less room than it is allowed.
Draft FirstPlanner::finishBest() {
  constexpr int mostTries = 4;
  GuideSearch &best = better();
  int64_t cap = budget;
  Schedule schedule = best.takeBest();
  for (int i = 0; i < mostTries && schedule.complete; ++i) {
    Draft draft = finish(std::move(schedule));
    if (!draft.usable() || draft.verdict.livePeakBytes <= budget)
      return draft;
    cap -= draft.verdict.livePeakBytes - budget;
    schedule = best.runBest(cap);
  }
  return Draft();
}

/// Both ways to relieve what exceeds the budget, one per core and round by
/// round: where one of them is settled, the other one need not go on.
void FirstPlanner::search() {
  bool first = byWeights.start(free, budget), second = first;
  byGuides.follow(byWeights);
  while ((first || second) && !byWeights.isSettled() && !byGuides.isSettled())
    std::tie(first, second) = runBoth(
        graph.roots.size(), [&] { return first && byWeights.doRound(); },
        [&] { return second && byGuides.doRound(); });
}

Draft FirstPlanner::plan(int64_t budgetBytes) {
  if (!graph.error.empty())
    return Draft();
  budget = budgetBytes;
  if (!free.complete)
    free = byWeights.runFree();
  if (!free.complete || free.peakBytes <= budget)
    return finish(free);
  if (better().found() && better().tighten(budget))
    if (Draft draft = finishBest(); draft.usable())
      return draft;
  search();
  return better().found() ? finishBest() : Draft();
}

Draft ckpt::plan::firstPlan(const Graph &graph, int64_t budgetBytes,
                            const SolverOptions &options,
                            const CostWeights &weights) {
  return FirstPlanner(graph, options, weights).plan(budgetBytes);
}

std::optional<Solution>
ckpt::plan::placedFirstPlan(const Graph &graph, int64_t budgetBytes,
                            const SolverOptions &options) {
  constexpr int mostTries = 8;
  // Without a limit, as small as it gets.
  bool isLimited = budgetBytes != INT64_MAX;
  // Slots of large steps leave some gap, and planning once more takes long.
  int64_t spare = isLimited ? budgetBytes / 1024 : 0;
  int64_t cap = budgetBytes - (isTooLargeToWalk(graph) ? spare : 0);
  int64_t usableCap = cap;
  int64_t goal = isLimited ? budgetBytes : 0;
  FirstPlanner planner(graph, options, CostWeights());
  for (int i = 0; i < mostTries; ++i) {
    Draft draft = planner.plan(cap);
    if (!draft.usable() && i == 0)
      break;
    if (!draft.usable()) {
      // Between this and what was enough for a plan there may be another one.
      cap += (usableCap - cap) / 2;
      continue;
    }
    usableCap = cap;
    // More takes longer than several plans with lower caps.
    Solution solution = planner.place(std::move(draft), goal,
                                      i == 0 && isLimited ? PackEffort::Once
                                                          : PackEffort::Orders);
    if (!solution.verdict.error.empty())
      break;
    if (solution.plan.arenaBytes <= budgetBytes)
      return solution;
    // Other plans have other gaps: a little less, so that few are needed.
    cap -= solution.plan.arenaBytes - budgetBytes + spare;
  }
  return std::nullopt;
}

std::optional<Solution> ckpt::plan::solveFirst(const Problem &problem,
                                               int64_t budgetBytes,
                                               const SolverOptions &options) {
  Graph graph(problem, options.fusion);
  std::optional<Solution> first = placedFirstPlan(graph, budgetBytes, options);
  if (first || budgetBytes == INT64_MAX)
    return first;
  std::optional<Solution> unlimited =
      placedFirstPlan(graph, INT64_MAX, options);
  if (!unlimited)
    return std::nullopt;
  return placedChainPlan(problem, withoutSlots(std::move(unlimited->plan)),
                         budgetBytes);
}
