//===- RegionSearch.cpp - Plans that keep budgets of regions --------------===//
//
// The searches of one budget know no regions. They run in rounds: a plan that
// exceeds a region is changed, kernel by kernel, until it keeps all budgets. It
// becomes an answer. The values of the region that it no longer hands on to the
// backward pass are pinned for the next round: the next search makes them again
// as well, and decides all other values anew. A pin is the demand that users
// write; no search has to learn another one (docs/Planner/Portfolio.md,
// "Budgets of regions").
//
//===----------------------------------------------------------------------===//

#include "Plan/Portfolio/RegionSearch.h"

#include "Plan/Improve/ReduceMemory.h"
#include "Plan/Improve/RematExchange.h"
#include "Plan/Model/Clock.h"
#include "Plan/Packing/AssignOffsets.h"
#include "Plan/Portfolio/BudgetSearch.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Regions.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

/// A budget, and the problem as it sees it: of the whole or of a region.
struct Limit {
  Problem view;
  int64_t bytes = 0;

  int64_t peakOf(const Plan &plan) const {
    return validate(view, plan, /*slots=*/false).livePeakBytes;
  }
};

class RegionSearch {
public:
  RegionSearch(const Problem &problem, int64_t budgetBytes,
               const SolverOptions &options, const Solution *unlimited);
  BudgetResult run();

private:
  BudgetResult solve(double part);
  Solution placed(const Plan &plan, int64_t bytes) const;
  bool enter(const Plan &plan);
  bool enter(Solution solution);
  bool runRound(double part);
  bool repair(Plan &plan, const std::vector<Limit> &wanted) const;
  void enterChanged();
  bool pinWhatChanged(const Plan &before, const Plan &after);
  int32_t firstBackward(const Plan &plan) const;
  std::vector<char> handedOn(const Plan &plan) const;
  std::vector<Limit> tightened(const Plan &plan) const;
  int64_t takenBy(size_t region, const Solution &solution) const;
  Solution lowest(size_t region, std::vector<Limit> wanted) const;
  void exchange();
  void setShortage(size_t region, const Solution &solution);
  void findShortage();
  MemoryOptions memoryOptions(int64_t bytes) const;

  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  const Solution *unlimited;
  Clock clock;
  /// Without regions, with the pins of all rounds.
  Problem pinned;
  /// Limits of the whole, then of each region.
  std::vector<Limit> limits;
  /// By value: it is in some region.
  std::vector<char> isMember;
  /// Cost of an extra FLOP on top of its time.
  double flopNs = 0;
  BudgetResult result;
  /// The first round's answer, and the last plan that was changed to keep all.
  Solution first;
  Plan changed;
};

} // namespace

RegionSearch::RegionSearch(const Problem &problem, int64_t budgetBytes,
                           const SolverOptions &options,
                           const Solution *unlimited)
    : problem(problem), budget(budgetBytes), options(options),
      unlimited(unlimited), clock(options), pinned(withoutRegions(problem)),
      isMember(problem.values.size()) {
  limits.push_back({pinned, budgetBytes});
  for (const Region &region : problem.regions) {
    limits.push_back({regionView(problem, region), region.budgetBytes});
    std::vector<char> members = membersOf(problem, region);
    for (size_t i = 0; i < members.size(); ++i)
      isMember[i] |= members[i];
  }
  flopNs = PlanScore(RematGraph(pinned, options.fusion), 0).flopNs();
}

MemoryOptions RegionSearch::memoryOptions(int64_t bytes) const {
  MemoryOptions memory;
  memory.budgetBytes = bytes;
  memory.flopNs = flopNs;
  memory.deadline = clock.at(1);
  return memory;
}

/// Plans the problem with the pins so far, in \p part of the time that is left.
BudgetResult RegionSearch::solve(double part) {
  SolverOptions rest = clock.isLimited() ? clock.rest(options, part) : options;
  if (options.onPlan)
    rest.onPlan = [&](const Plan &plan, const Verdict &) {
      Verdict verdict = validate(problem, plan, /*slots=*/false);
      if (verdict.error.empty())
        options.onPlan(plan, verdict);
    };
  // The plan without a limit obeys no pins.
  bool isPinned = !changed.kernels.empty();
  BudgetResult found =
      solveBudget(pinned, budget, rest, isPinned ? nullptr : unlimited);
  result.stoppedByClock |= found.stoppedByClock;
  return found;
}

/// \p plan in an arena of \p bytes, as far as values that lie in results make
/// that possible.
Solution RegionSearch::placed(const Plan &plan, int64_t bytes) const {
  Draft draft;
  draft.plan = plan;
  Solution solution = assignInResults(limits[0].view, std::move(draft), bytes);
  solution.subSolver = part::regions;
  return solution;
}

/// Whether \p plan keeps all budgets once it is placed. The more of its values
/// lie in results, the less a region takes of the arena.
bool RegionSearch::enter(const Plan &plan) {
  return enter(placed(plan, budget)) ||
         (problem.scratchInResults && enter(placed(plan, fewestBytes)));
}

/// Whether \p solution keeps all budgets; the best that does is the answer.
bool RegionSearch::enter(Solution solution) {
  solution.verdict = validate(problem, solution.plan, /*slots=*/true);
  if (!solution.verdict.error.empty() || solution.plan.arenaBytes > budget)
    return false;
  MemoryOptions price = memoryOptions(budget);
  if (!result.best ||
      price.costNs(solution.verdict) < price.costNs(result.best->verdict)) {
    if (!result.best)
      result.firstPlanMs = clock.ms();
    result.best = std::move(solution);
  }
  return true;
}

/// Changes \p plan until it keeps all that is \p wanted; whether it does.
bool RegionSearch::repair(Plan &plan, const std::vector<Limit> &wanted) const {
  constexpr int mostSweeps = 6;
  for (int sweep = 0; sweep < mostSweeps; ++sweep) {
    bool isKept = true;
    for (const Limit &limit : wanted) {
      if (limit.peakOf(plan) <= limit.bytes)
        continue;
      isKept = false;
      reduceMemory(limit.view, plan, memoryOptions(limit.bytes));
    }
    if (isKept)
      return true;
  }
  return false;
}

/// Changes `changed` until it keeps all budgets and enters it. If live sums
/// fill the budgets, slots may not fit: then it is to keep a little less.
void RegionSearch::enterChanged() {
  constexpr int mostTries = 4, part = 40;
  std::vector<Limit> wanted = limits;
  for (int i = 0; i < mostTries && repair(changed, wanted); ++i) {
    if (enter(changed))
      return;
    for (Limit &limit : wanted)
      limit.bytes -= limit.bytes / part;
  }
}

/// The first kernel of the backward pass that reads a value of another one:
/// constants of the backward pass may come at any time.
int32_t RegionSearch::firstBackward(const Plan &plan) const {
  KernelCache kernels(problem);
  auto isBackward = [&](OpId op) { return problem.ops[op].backward; };
  auto isMade = [&](ValueId value) { return problem.values[value].op != none; };
  auto found = std::find_if(
      plan.kernels.begin(), plan.kernels.end(), [&](const Kernel &kernel) {
        const std::vector<ValueId> &reads = kernels.get(kernel).memoryReads;
        return std::any_of(kernel.ops.begin(), kernel.ops.end(), isBackward) &&
               std::any_of(reads.begin(), reads.end(), isMade);
      });
  return static_cast<int32_t>(found - plan.kernels.begin());
}

/// By value: the backward pass reads it from the forward pass, which a pin to
/// recompute it forbids.
std::vector<char> RegionSearch::handedOn(const Plan &plan) const {
  std::vector<char> isHandedOn(problem.values.size());
  int32_t backward = firstBackward(plan);
  for (const Instance &instance :
       validate(limits[0].view, plan, /*slots=*/false).instances)
    if (instance.kernel < backward && instance.lastRead > backward)
      isHandedOn[instance.value] = true;
  return isHandedOn;
}

/// Pins values of regions that \p before hands on and \p after makes again;
/// whether there are any.
bool RegionSearch::pinWhatChanged(const Plan &before, const Plan &after) {
  std::vector<char> was = handedOn(before), is = handedOn(after);
  bool any = false;
  for (size_t i = 0; i < pinned.values.size(); ++i) {
    Value &value = pinned.values[i];
    if (!isMember[i] || !was[i] || is[i] || value.keep != Keep::Free ||
        !problem.ops[value.op].mayRepeat)
      continue;
    value.keep = Keep::Recompute;
    any = true;
  }
  return any;
}

/// Whether another round may find a better plan, or any.
bool RegionSearch::runRound(double part) {
  BudgetResult found = solve(part);
  bool isFirst = first.plan.kernels.empty();
  if (isFirst)
    result.smallest = found.smallest;
  if (!found.best || options.isInterrupted())
    return false;
  if (isFirst)
    first = *found.best;
  const Plan before = withoutSlots(found.best->plan);
  if (enter(*found.best) || (problem.scratchInResults && enter(before))) {
    // The remaining time is for exchanges, which pins call for.
    constexpr double half = 0.5;
    if (clock.isLimited())
      if (BudgetResult more = solve(changed.kernels.empty() ? 1 : half);
          more.best)
        enter(*more.best);
    return false;
  }
  // Above the budget, values lie in results.
  limits[0].bytes = std::max(budget, limits[0].peakOf(before));
  changed = before;
  enterChanged();
  if (pinWhatChanged(before, changed))
    return true;
  // The searches put something else into the room that pins make.
  Plan further = before;
  repair(further, tightened(before));
  return pinWhatChanged(before, further);
}

/// The limits; a region that \p plan exceeds gets a limit smaller by the
/// excess.
std::vector<Limit> RegionSearch::tightened(const Plan &plan) const {
  std::vector<Limit> tight = limits;
  for (size_t i = 1; i < tight.size(); ++i)
    tight[i].bytes -= std::max<int64_t>(
        0, std::min(tight[i].bytes, tight[i].peakOf(plan) - tight[i].bytes));
  return tight;
}

/// Asks of each remat of the answer whether the plan can do without, as each
/// budget sees it; all budgets are to be kept.
void RegionSearch::exchange() {
  for (const Limit &limit : limits) {
    MemoryOptions fit = memoryOptions(limit.bytes);
    fit.mostNs = fit.costNs(result.best->verdict);
    exchangeRemats(limit.view, withoutSlots(result.best->plan), fit,
                   [&](const Plan &plan) { return enter(plan); });
  }
}

/// Bytes of region number \p region in a plan with slots.
int64_t RegionSearch::takenBy(size_t region, const Solution &solution) const {
  Verdict verdict = solution.verdict;
  measureRegions(problem, verdict);
  return verdict.regionPeakBytes[region];
}

/// The first round's answer, changed until the region takes as little as it can
/// while the other limits of \p wanted are kept.
Solution RegionSearch::lowest(size_t region, std::vector<Limit> wanted) const {
  constexpr int64_t largeStep = 4, smallStep = 32;
  Plan plan = withoutSlots(first.plan);
  Solution smallest = first;
  int64_t peak = takenBy(region, smallest);
  for (int64_t step = largeStep; step <= smallStep;) {
    wanted[region + 1].bytes = peak - peak / step;
    Plan next = plan;
    Solution solution;
    if (repair(next, wanted))
      solution = placed(next, budget);
    bool isLower = !solution.plan.kernels.empty() &&
                   solution.plan.arenaBytes <= budget &&
                   takenBy(region, solution) < peak;
    if (!isLower) {
      step *= 2;
      continue;
    }
    plan = std::move(next);
    smallest = std::move(solution);
    peak = takenBy(region, smallest);
  }
  return smallest;
}

/// If no plan keeps all: the region that could not have its budget, and the
/// smallest that it could. Others count with their least bytes.
void RegionSearch::findShortage() {
  std::vector<Limit> wanted = limits;
  for (size_t i = 1; i < wanted.size(); ++i)
    wanted[i].bytes = std::max(wanted[i].bytes, wanted[i].peakOf(changed));
  std::vector<Solution> all;
  for (size_t i = 0; i < problem.regions.size(); ++i) {
    if (takenBy(i, first) <= problem.regions[i].budgetBytes)
      continue;
    all.push_back(lowest(i, wanted));
    if (enter(all.back()))
      return;
    setShortage(i, all.back());
  }
  // Each could have its budget, but not all of them.
  for (const Solution &solution : all)
    for (size_t i = 0; i < problem.regions.size(); ++i)
      setShortage(i, solution);
}

/// Sets the shortage to the bytes of the region in \p solution, if these are
/// too many and no shortage is set.
void RegionSearch::setShortage(size_t region, const Solution &solution) {
  int64_t bytes = takenBy(region, solution);
  if (result.shortage || bytes <= problem.regions[region].budgetBytes)
    return;
  result.shortage = {static_cast<int32_t>(region), bytes};
  result.smallest = solution;
}

BudgetResult RegionSearch::run() {
  constexpr double partOfFirst = 0.25, partOfOthers = 0.33;
  constexpr int mostRounds = 5;
  for (int round = 0; round < mostRounds; ++round)
    if (!runRound(round == 0 ? partOfFirst : partOfOthers))
      break;
  // Later findings are worth nothing.
  if (options.isInterrupted())
    return std::move(result);
  if (!result.best && !changed.kernels.empty())
    findShortage();
  if (result.best)
    result.shortage.reset();
  if (result.best && !changed.kernels.empty())
    exchange();
  if (result.best)
    result.smallest = *result.best;
  return std::move(result);
}

BudgetResult ckpt::plan::searchRegions(const Problem &problem,
                                       int64_t budgetBytes,
                                       const SolverOptions &options,
                                       const Solution *unlimited) {
  return RegionSearch(problem, budgetBytes, options, unlimited).run();
}
