//===- SolveFrontier.cpp - Plans for many budgets from one pool -----------===//
//
// First plans give a coarse curve, and all of it for a step that is too large
// to walk. The baseline is changed kernel by kernel until it fits one cap after
// the other. Each setting of the portfolio then walks with many caps. The need
// of a plan is known only afterwards; the pool sorts that out. Slots are placed
// for the plans that the points need, and these are changed kernel by kernel
// until the time is over.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutWalk.h"
#include "Plan/Construct/List/QuickPlan.h"
#include "Plan/Construct/Pebble/PebblePlan.h"
#include "Plan/Improve/KeepMove.h"
#include "Plan/Improve/ReduceTime.h"
#include "Plan/Improve/RematExchange.h"
#include "Plan/Model/Clock.h"
#include "Plan/Model/RunBoth.h"
#include "Plan/Portfolio/BudgetSearch.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Frontier.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace ckpt::plan;

namespace {

class FrontierSearch {
public:
  FrontierSearch(const Problem &problem, int32_t points,
                 const SolverOptions &options, const Bound &bound)
      : problem(problem), count(std::max(points, 2)), options(options),
        clock(options),
        graph(problem, options.fusion), walks{{graph, options, loose},
                                              {graph, options, loose}},
        bound(bound) {}
  Frontier run();

private:
  bool begin(const char *part) {
    if (options.allows(part))
      running = part;
    return options.allows(part);
  }
  void tryFirstPlans();
  std::vector<Draft> descended(uint64_t seed) const;
  void descend();
  void walkAll();
  void walkThrough(const Setting &setting, double offset);
  void enter(Draft draft);
  void enterWalk(Draft draft);
  void place(int64_t budgetBytes);
  void placeSmallest();
  void chooseBudgets();
  bool placeWithin(int64_t budgetBytes, Plan plan);
  void refine(size_t point);
  void exchange(size_t point);
  void refineAll();
  void proveAll();
  /// When the time of walks is over, which waits a little for a coarse curve.
  double end() const {
    constexpr int32_t fewestWalks = 8;
    constexpr double share = 0.6;
    return walked < fewestWalks ? 1 : share;
  }
  /// The deadline of one of \p count equal parts of the time that is left.
  Deadline partOfRest(size_t count) const {
    return clock.in(std::max(0.0, 1 - clock.share()) /
                    static_cast<double>(count));
  }
  bool isOver() const { return clock.isOver(end()); }
  /// How hard to look for slots: after the limit, only in a few orders.
  PackEffort effort() const {
    return clock.isOver() ? PackEffort::Orders : PackEffort::Search;
  }
  WalkLimits limits() const {
    WalkLimits limits;
    limits.deadline = clock.at(end());
    return limits;
  }

  /// Geometric, from the largest at 0 to the lowest at \p places.
  double capAt(double place, int32_t places) const {
    return largestCap * std::pow(lowestCap / largestCap, place / places);
  }

  static constexpr int32_t fewestCaps = 20;
  const Problem &problem;
  const int32_t count;
  const SolverOptions options;
  Clock clock;
  RematGraph graph;
  LooseWalks loose;
  CutWalk walks[2];
  const Bound &bound;
  Frontier frontier;
  /// Walks, or first plans.
  int32_t walked = 0;
  /// The part that runs now; see BudgetSearch.h.
  const char *running = part::unlimited;
  /// The range of caps.
  double largestCap = 0, lowestCap = 0;
  /// All drafts and the walks' drafts, by their live bytes, without slots.
  /// Walks gain more by moves that save time, so the best of them gets these,
  /// too.
  PlanPool drafts, walkDrafts;
  /// By their arenas.
  PlanPool placed;
  /// Ascending.
  std::vector<int64_t> budgets;
};

} // namespace

/// The numbers below \p count, middles first: half, quarters, eighths.
static std::vector<int32_t> coarseToFine(int32_t count) {
  std::vector<int32_t> order;
  std::vector<std::pair<int32_t, int32_t>> ranges = {{0, count}};
  for (size_t i = 0; i < ranges.size(); ++i) {
    auto [begin, end] = ranges[i];
    if (begin == end)
      continue;
    int32_t middle = begin + (end - begin) / 2;
    order.push_back(middle);
    ranges.emplace_back(begin, middle);
    ranges.emplace_back(middle + 1, end);
  }
  return order;
}

void FrontierSearch::enter(Draft draft) {
  int64_t bytes = draft.verdict.livePeakBytes;
  if (drafts.add(bytes,
                 {std::move(draft.plan), std::move(draft.verdict), running}) &&
      options.progress)
    options.progress(std::to_string(drafts.plans().size()) +
                     " plans, the smallest of " +
                     formatBytes(drafts.plans().begin()->first));
}

void FrontierSearch::enterWalk(Draft draft) {
  walkDrafts.add(draft.verdict.livePeakBytes,
                 {draft.plan, draft.verdict, running});
  enter(std::move(draft));
}

/// Walks through the caps coarse to fine, so that an early end still covers all
/// of the range; below a cap whose walk gave up, others would too, mostly. Two
/// walk at once; the result does not depend on which one ends first.
void FrontierSearch::walkThrough(const Setting &setting, double offset) {
  int32_t places = std::max(count, fewestCaps);
  std::vector<double> caps;
  for (int32_t place : coarseToFine(places))
    caps.push_back(capAt(place + offset, places));
  double lowest = lowestCap;
  for (size_t next = 0; next < caps.size() && !isOver();) {
    std::vector<double> batch;
    for (; next < caps.size() && batch.size() < std::size(walks); ++next)
      if (caps[next] > lowest)
        batch.push_back(caps[next]);
    walked += static_cast<int32_t>(batch.size());
    WalkLimits now = limits();
    auto walk = [&](size_t lane) {
      return walks[lane].run(setting, batch[lane],
                             static_cast<int64_t>(batch[lane]), now);
    };
    std::array<Draft, 2> made;
    if (batch.size() > 1)
      runLanes([&](size_t lane) { made[lane] = walk(lane); });
    else if (!batch.empty())
      made[0] = walk(0);
    for (size_t lane = 0; lane < batch.size(); ++lane) {
      Draft &draft = made[lane];
      if (draft.usable())
        enterWalk(std::move(draft));
      else
        lowest = std::max(lowest, batch[lane]);
    }
  }
}

/// From the largest cap down to one for which none is found.
void FrontierSearch::tryFirstPlans() {
  constexpr int32_t coarse = 8;
  if (!begin(part::listSchedule))
    return;
  int32_t places = isTooLargeToWalk(graph) ? count : coarse;
  for (int32_t place = 1; place <= places && !isOver(); ++place) {
    Draft draft =
        quickPlan(graph, static_cast<int64_t>(capAt(place, places)), options);
    if (!draft.usable())
      return;
    ++walked;
    enter(std::move(draft));
  }
}

/// The baseline, changed until it fits smaller and smaller caps; the last
/// change need not fit.
std::vector<Draft> FrontierSearch::descended(uint64_t seed) const {
  constexpr double share = 0.1;
  const int32_t places = std::max(count, fewestCaps);
  MemoryOptions fit;
  fit.seed = seed;
  fit.deadline = clock.in(share);
  KernelCache kernels(problem);
  std::vector<Draft> found;
  Plan plan = withoutSlots(frontier.baseline.plan);
  bool fits = true;
  for (int32_t place = 1; place <= places && fits; ++place) {
    fit.budgetBytes = static_cast<int64_t>(capAt(place, places));
    fits = reduceMemory(problem, plan, fit, kernels);
    found.push_back({plan, validate(problem, plan, /*slots=*/false, kernels)});
  }
  return found;
}

/// Two ways down, the second one with prices that are drawn at random.
void FrontierSearch::descend() {
  if (!options.fusion || !begin(part::descent))
    return;
  auto [first, second] = runBoth(
      problem.ops.size(), [&] { return descended(0); },
      [&] { return descended(1); });
  for (std::vector<Draft> *found : {&first, &second})
    for (Draft &draft : *found) {
      ++walked;
      enter(std::move(draft));
    }
}

/// Caps of a setting lie between those of the settings before.
void FrontierSearch::walkAll() {
  constexpr double goldenSection = 0.618;
  for (size_t i = 0; i < std::size(walkSettings) && !isOver(); ++i) {
    if (begin(part::walk))
      walkThrough(walkSettings[i],
                  std::fmod(static_cast<double>(i) * goldenSection, 1));
  }
}

/// Places the drafts that \p budgetBytes needs. A draft whose slots exceed its
/// live bytes may miss the budget: then the next one is asked.
void FrontierSearch::place(int64_t budgetBytes) {
  auto isUseful = [&](const Solution *draft) {
    const Solution *best = placed.fastestWithin(budgetBytes);
    return draft && (!best || draft->verdict.timeNs < best->verdict.timeNs);
  };
  for (const Solution *draft = drafts.fastestWithin(budgetBytes);
       isUseful(draft); draft = drafts.fastestWithin(budgetBytes)) {
    Solution solution = assignOffsets(problem, {draft->plan, draft->verdict},
                                      budgetBytes, effort());
    solution.subSolver = draft->subSolver;
    drafts.remove(draft);
    if (solution.verdict.error.empty())
      placed.add(solution.plan.arenaBytes, std::move(solution));
  }
}

/// The lower end: a plan with any remats, and between it and the others plans
/// that keep all values for which there is room.
void FrontierSearch::placeSmallest() {
  constexpr int64_t steps = 8;
  int64_t above = placed.plans().begin()->first;
  if (!options.fusion || frontier.minimumBoundBytes >= above ||
      !begin(part::pebble))
    return;
  std::optional<Solution> smallest =
      solvePebble(graph, largestWorkingSet(problem).bytes, /*enoughBytes=*/0,
                  above, clock.at(1));
  if (!smallest)
    return;
  int64_t below = smallest->plan.arenaBytes;
  for (int64_t i = 1; i <= steps; ++i) {
    Draft draft;
    draft.plan = withoutSlots(smallest->plan);
    keepValues(problem, draft.plan, below + (above - below) / steps * i,
               KeepEffort::Exact);
    draft.verdict = validate(problem, draft.plan, /*slots=*/false);
    Solution solution =
        assignOffsets(problem, draft, above, PackEffort::Orders);
    solution.subSolver = part::keepSmallest;
    if (solution.verdict.error.empty())
      placed.add(solution.plan.arenaBytes, std::move(solution));
  }
  smallest->subSolver = running;
  placed.add(below, std::move(*smallest));
}

/// In geometric steps.
void FrontierSearch::chooseBudgets() {
  if (!drafts.plans().empty())
    place(drafts.plans().begin()->first);
  placeSmallest();
  int64_t largest = frontier.baseline.plan.arenaBytes;
  int64_t smallest = placed.plans().begin()->first;
  double ratio = static_cast<double>(largest) /
                 static_cast<double>(std::max<int64_t>(1, smallest));
  for (int32_t i = 0; i < count; ++i) {
    double bytes = static_cast<double>(smallest) *
                   std::pow(ratio, static_cast<double>(i) / (count - 1));
    budgets.push_back(
        std::clamp(static_cast<int64_t>(bytes), smallest, largest));
  }
  budgets.front() = smallest;
  budgets.back() = largest;
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
}

/// Enters the plan if it is faster than the known one for this budget and its
/// slots can be placed, and says whether they can.
bool FrontierSearch::placeWithin(int64_t budgetBytes, Plan plan) {
  Draft draft;
  draft.verdict = validate(problem, plan, /*slots=*/false);
  const Solution *best = placed.fastestWithin(budgetBytes);
  if (!draft.verdict.error.empty() ||
      draft.verdict.livePeakBytes > budgetBytes ||
      (best && draft.verdict.timeNs >= best->verdict.timeNs))
    return false;
  draft.plan = std::move(plan);
  Solution solution = assignOffsets(problem, draft, budgetBytes, effort());
  if (!solution.verdict.error.empty())
    return false;
  solution.subSolver = running;
  placed.add(solution.plan.arenaBytes, std::move(solution));
  return true;
}

/// Saves time in the best plan for a budget, in the best walk, and in the best
/// plan for the next larger budget once it is changed until it fits.
void FrontierSearch::refine(size_t point) {
  // Most gain in time by these moves.
  constexpr double gain = 1.03;
  const int64_t budget = budgets[point];
  const Deadline deadline = partOfRest(point + 1);
  const Solution *best = placed.fastestWithin(budget);
  const Solution *above = point + 1 < budgets.size()
                              ? placed.fastestWithin(budgets[point + 1])
                              : best;
  MemoryOptions fit;
  fit.budgetBytes = budget;
  fit.mostNs = gain * static_cast<double>(best->verdict.timeNs);
  fit.deadline = deadline;
  const Solution *walk = walkDrafts.fastestWithin(budget);
  auto refitted = [&](Plan plan) {
    reduceTime(problem, plan, budget, deadline);
    return plan;
  };
  using Plans = std::vector<Plan>;
  auto [first, second] = runBoth(
      problem.ops.size(),
      [&] {
        Plan plan = withoutSlots(above->plan);
        bool fits = above != best && reduceMemory(problem, plan, fit);
        return fits ? Plans{refitted(std::move(plan))} : Plans();
      },
      [&] {
        Plans plans = {refitted(withoutSlots(best->plan))};
        if (walk && walk->verdict.timeNs > best->verdict.timeNs)
          plans.push_back(refitted(walk->plan));
        return plans;
      });
  for (Plans *plans : {&first, &second})
    for (Plan &plan : *plans)
      placeWithin(budget, std::move(plan));
}

/// Asks of each remat whether the plan can do without.
void FrontierSearch::exchange(size_t point) {
  const int64_t budget = budgets[point];
  const Solution *best = placed.fastestWithin(budget);
  MemoryOptions fit;
  fit.budgetBytes = budget;
  fit.mostNs = static_cast<double>(best->verdict.timeNs);
  fit.deadline = partOfRest(point + 1);
  exchangeRemats(
      problem, withoutSlots(best->plan), fit,
      [&](const Plan &better) { return placeWithin(budget, better); });
}

/// From the largest budget down, as each point begins with the one above it.
void FrontierSearch::refineAll() {
  if (!options.fusion)
    return;
  if (begin(part::reduceTime))
    for (size_t point = budgets.size(); point-- > 0 && !clock.isOver();)
      refine(point);
  if (clock.isLimited() && begin(part::exchange))
    for (size_t point = budgets.size() - 1; point-- > 0 && !clock.isOver();)
      exchange(point);
}

/// Every other point beside the others. A bound within more memory holds within
/// less, where the clock may have ended the proof too soon.
void FrontierSearch::proveAll() {
  auto proveFrom = [&](size_t first) {
    for (size_t i = first;
         i < frontier.points.size() && !options.isInterrupted(); i += 2) {
      FrontierPoint &point = frontier.points[i];
      point.extraFlopsBound = bound.extraFlops(point.budgetBytes);
      point.timeBoundNs = bound.timeNs(point.budgetBytes);
    }
    return true;
  };
  runBoth(
      problem.ops.size(), [&] { return proveFrom(0); },
      [&] { return proveFrom(1); });
  for (size_t i = frontier.points.size(); i-- > 1;) {
    const FrontierPoint &larger = frontier.points[i];
    FrontierPoint &point = frontier.points[i - 1];
    point.extraFlopsBound =
        std::max(point.extraFlopsBound, larger.extraFlopsBound);
    point.timeBoundNs = std::max(point.timeBoundNs, larger.timeBoundNs);
  }
}

Frontier FrontierSearch::run() {
  frontier.written = asWritten(problem);
  frontier.minimumBoundBytes = bound.minimumBytes();
  frontier.baseline = solveUnlimited(problem, options);
  frontier.baseline.subSolver = part::unlimited;
  frontier.error = frontier.baseline.verdict.error;
  if (!frontier.error.empty() || problem.ops.empty())
    return std::move(frontier);
  placed.add(frontier.baseline.plan.arenaBytes, frontier.baseline);
  largestCap = static_cast<double>(frontier.baseline.verdict.livePeakBytes);
  lowestCap =
      static_cast<double>(std::max<int64_t>(1, frontier.minimumBoundBytes));
  if (lowestCap < static_cast<double>(frontier.baseline.plan.arenaBytes)) {
    tryFirstPlans();
    if (!isTooLargeToWalk(graph)) {
      descend();
      walkAll();
    }
  }
  if (options.isInterrupted())
    return std::move(frontier);
  chooseBudgets();
  for (size_t i = budgets.size(); i-- > 0 && !options.isInterrupted();)
    place(budgets[i]);
  if (!isTooLargeToWalk(graph))
    refineAll();
  for (int64_t budget : budgets)
    frontier.points.push_back({budget, *placed.fastestWithin(budget)});
  proveAll();
  return std::move(frontier);
}

Frontier ckpt::plan::solveFrontier(const Problem &problem, int32_t points,
                                   const SolverOptions &options) {
  // The bounds of the points come last.
  constexpr double shareOfSearch = 0.75;
  Clock clock(options.withoutEffort());
  Bound bound(problem, options);
  Frontier frontier =
      FrontierSearch(problem, points, clock.rest(options, shareOfSearch), bound)
          .run();
  frontier.planningMs = clock.ms();
  return frontier;
}
