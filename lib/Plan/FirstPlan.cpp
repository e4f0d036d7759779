//===- FirstPlan.cpp - One cut, a few schedules ---------------------------===//
//
// A run without a limit shows the tightest moment. The cut there leaves out the
// room that recomputation takes on the way back, so a few sizes of a reserve
// for it are tried, and the schedule of least time is finished.
//
//===----------------------------------------------------------------------===//

#include "FirstPlan.h"

#include "BlockChain.h"
#include "JustInTime.h"
#include "PostPasses.h"
#include "RootOrder.h"
#include "RunBoth.h"

#include <algorithm>
#include <limits>

using namespace ckpt::plan;

namespace {

class FirstPlanner {
public:
  FirstPlanner(const Graph &graph, const SolverOptions &options,
               const CostWeights &weights)
      : graph(graph), problem(graph.problem), weights(weights),
        kernels(graph.problem), kernelsWithin(graph.problem),
        jit(graph, orderRoots(graph, options.reorder), weights, kernels),
        jitWithin(graph, jit.rootOrder(), weights, kernelsWithin) {}

  /// A plan within \p budgetBytes, or one that is not usable. What was found
  /// out for a larger budget is used again.
  Draft plan(int64_t budgetBytes);
  /// \p draft with slots.
  Solution place(Draft draft, int64_t goalBytes, PackEffort effort) {
    return placeSlots(problem, std::move(draft), goalBytes, effort, kernels);
  }

private:
  using Guide = JustInTime::Guide;
  using Schedule = JustInTime::Schedule;

  /// What to keep at the tightest moment, and what becomes of it.
  struct Attempt {
    Guide guide;
    /// Without a limit otherwise.
    Schedule known;
    Schedule within;
    int64_t cost = std::numeric_limits<int64_t>::max();
  };

  void searchGuides();
  void relieve(const Schedule &next, bool inVain);
  Schedule tryGuide();
  bool tightenBest();
  int64_t costOf(const Schedule &schedule) const;
  Draft finishBest();
  Draft finish(Schedule schedule);

  const Graph &graph;
  const Problem &problem;
  const CostWeights weights;
  KernelCache kernels, kernelsWithin;
  JustInTime jit;
  /// The same for runs within the budget, on another thread.
  JustInTime jitWithin;
  /// Without a limit and a guide, and what it knew of uses.
  Schedule free, freeKnown;

  int64_t budget = 0;
  Guide guide;
  /// What the guide may keep, and how much the bytes of each value count.
  int64_t room;
  std::vector<double> weight;
  Schedule known;
  Attempt best;
};

} // namespace

/// Whether \p cost is at most that much above \p other.
static bool isNear(int64_t cost, int64_t other, double share = 0.01) {
  return static_cast<double>(cost) < (1 + share) * static_cast<double>(other);
}

/// A limit that is none, with room for sums.
static constexpr int64_t unlimitedBytes =
    std::numeric_limits<int64_t>::max() / 4;

/// Time, roughly: what anchors repeat, bytes, launches. As in the search for
/// the best plan, repeated work counts more than its time.
int64_t FirstPlanner::costOf(const Schedule &schedule) const {
  constexpr int64_t repeatWeight = 3;
  std::vector<char> ran(problem.ops.size(), 0);
  int64_t bytes = 0, repeatedPs = 0;
  for (ValueId value : schedule.reads)
    bytes += problem.values[value].bytes;
  for (const Kernel &kernel : schedule.plan.kernels) {
    for (ValueId value : kernel.outputs)
      bytes += problem.values[value].bytes;
    for (OpId op : kernel.ops) {
      if (isAnchor(problem.ops[op]) && ran[op])
        repeatedPs += problem.ops[op].computePs;
      ran[op] = 1;
    }
  }
  int64_t launches = static_cast<int64_t>(schedule.plan.kernels.size());
  return repeatWeight * repeatedPs + graph.movePs(bytes) +
         launches * problem.launchNs * 1000;
}

/// The schedule exceeds the budget somewhere: there, less has to be kept. If
/// that was tried in vain, it is what is made again on the way back that takes
/// the room.
void FirstPlanner::relieve(const Schedule &next, bool inVain) {
  // Guides of large steps take long: few of them, in larger strides.
  const double factor = isTooLargeToWalk(graph) ? 2.25 : 1.5;
  int64_t excess = next.peakBytes - budget;
  if (next.peakAt == guide.at || inVain) {
    room -= inVain ? excess / 2 : excess;
    return;
  }
  for (ValueId value : jit.keptAcross(guide, known, next.peakAt))
    weight[value] *= factor;
}

/// Runs the guide and, at the same time, drops more where it keeps too much;
/// how it runs if nothing more is dropped.
FirstPlanner::Schedule FirstPlanner::tryGuide() {
  auto [next, within] = runBoth(
      graph.roots.size(),
      [&] { return jit.runWithin(guide, known, unlimitedBytes); },
      [&] { return jitWithin.runWithin(guide, known, budget); });
  if (within.complete && within.peakBytes <= budget)
    if (int64_t cost = costOf(within); cost < best.cost)
      best = {guide, known, std::move(within), cost};
  return std::move(next);
}

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
  int64_t cap = budget;
  for (int i = 0; i < mostTries && best.within.peakBytes <= cap; ++i) {
    Draft draft = finish(std::move(best.within));
    if (!draft.usable() || draft.verdict.livePeakBytes <= budget)
      return draft;
    cap -= draft.verdict.livePeakBytes - budget;
    best.within = jit.runWithin(best.guide, best.known, cap);
  }
  return Draft();
}

/// Some guides for the tightest moment, and the best schedule of all and of
/// what is known.
void FirstPlanner::searchGuides() {
  constexpr int mostGuides = 8;
  constexpr double noBetter = 0.99, hardlyBetter = 0.98;
  // Guides of large steps take long.
  constexpr size_t manyRoots = 50000;
  const int mostInVain = graph.roots.size() > manyRoots ? 1
                         : isTooLargeToWalk(graph)      ? 2
                                                        : mostGuides;
  int inVain = 0;
  known = freeKnown;
  room = budget;
  weight.assign(problem.values.size(), 1);
  MomentCut cut(graph, weights);
  guide = {free.peakAt, {}};
  std::vector<char> resident = jit.residentsAt(guide.at);
  int64_t peakBytes = free.peakBytes;
  size_t peakAt = free.peakAt;
  for (int i = 0; i < mostGuides && inVain < mostInVain && peakBytes > budget;
       ++i) {
    std::vector<ValueId> kept =
        cut.keep({jit.rootOrder(), guide.at, resident, weight},
                 std::max<int64_t>(room, 0));
    if (i > 0 && kept == guide.kept) {
      // It takes more until the cut changes.
      room -= (peakBytes - budget) << i;
      inVain += best.within.complete;
      continue;
    }
    guide.kept = std::move(kept);
    known = jit.run(guide);
    if (!known.complete)
      break;
    int64_t before = best.cost;
    Schedule next = tryGuide();
    bool isBetter =
        !best.within.complete || static_cast<double>(best.cost) <
                                     hardlyBetter * static_cast<double>(before);
    inVain = isBetter ? 0 : inVain + 1;
    // Better guides could not pay off: it costs little more than a schedule
    // which nothing was dropped from.
    if (isNear(best.cost, costOf(next)))
      break;
    relieve(next, next.peakAt == peakAt &&
                      static_cast<double>(next.peakBytes) >
                          noBetter * static_cast<double>(peakBytes));
    peakBytes = next.peakBytes;
    peakAt = next.peakAt;
  }
}

/// Runs the best guide of a larger budget with this one, or with a little less
/// where that costs less: which values are evicted depends on every byte.
/// Whether that costs about the same.
bool FirstPlanner::tightenBest() {
  constexpr int mostCaps = 2;
  constexpr double near = 0.15;
  int64_t before = best.cost;
  best.cost = std::numeric_limits<int64_t>::max();
  best.within = Schedule();
  for (int i = 0; i < mostCaps && !isNear(best.cost, before, near); ++i) {
    int64_t cap = budget - budget / 100 * i;
    Schedule within = jit.runWithin(best.guide, best.known, cap);
    if (!within.complete || within.peakBytes > cap ||
        costOf(within) >= best.cost)
      continue;
    best.cost = costOf(within);
    best.within = std::move(within);
  }
  return isNear(best.cost, before, near);
}

Draft FirstPlanner::plan(int64_t budgetBytes) {
  if (!graph.error.empty())
    return Draft();
  budget = budgetBytes;
  if (!free.complete) {
    freeKnown = jit.run({});
    free = jit.runWithin({}, freeKnown, unlimitedBytes);
  }
  if (!free.complete || free.peakBytes <= budget)
    return finish(free);
  if (best.cost < std::numeric_limits<int64_t>::max() && tightenBest()) {
    if (Draft draft = finishBest(); draft.usable())
      return draft;
    best = Attempt();
  }
  searchGuides();
  return finishBest();
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
