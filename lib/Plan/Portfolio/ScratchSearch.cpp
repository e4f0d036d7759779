//===- ScratchSearch.cpp - Plans that use the buffers of results ----------===//
//
// The search for a budget knows the arena alone. Here the same search plans
// with all the bytes that the step has, those of the arena and of results, in
// which a result takes its bytes from its kernel to the end. At any time such a
// plan holds as much as fits the arena and the results that are not written
// yet. The packer then divides its values among them.
//
//===----------------------------------------------------------------------===//

#include "Plan/Portfolio/ScratchSearch.h"
#include "Plan/Model/PlanEdit.h"
#include "Plan/Packing/AssignOffsets.h"
#include "Plan/Portfolio/BudgetSearch.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/ResultScratch.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

namespace {
/// Shares of the limit for all bytes, for the arena alone, and for the smallest
/// plan. Each part but the last ends early where the search has a plan.
constexpr double shareOfAll = 0.65, shareOfArena = 0.25, shareOfSmallest = 0.1;

class ScratchSearch {
public:
  ScratchSearch(const Problem &problem, int64_t budgetBytes,
                const SolverOptions &options, const Solution *unlimited,
                LeastCosts least)
      : problem(problem), budget(budgetBytes), options(options), least(least),
        clock(options),
        unlimited(unlimited ? *unlimited : solveUnlimited(problem, options)) {}

  BudgetResult run();

private:
  Problem countResults() const;
  Solution unlimitedOf(const Problem &counted) const;
  Solution uncounted(Solution solution) const;
  bool hasScratch() const;
  void searchAll(const Problem &counted, const Solution &start);
  void searchArena();
  void findSmallest(const Problem &counted, const Solution &start);
  bool holdsTooLarge(const Solution &solution) const;
  Solution placed(const Solution &solution, int64_t bytes) const;
  bool enter(Solution solution);
  void keepSmallest(const Solution &solution);

  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  const LeastCosts least;
  const Clock clock;
  const Solution unlimited;
  BudgetResult result;
};
} // namespace

/// The problem in which results take their bytes of the arena from their kernel
/// to the end: an op that reads all of them is the last one. Views, through
/// which such an op would read, cost nothing.
Problem ScratchSearch::countResults() const {
  Problem counted = problem;
  Op end;
  end.name = "return";
  end.mayRepeat = false;
  end.backward = true;
  for (ValueId id : scratchResults(problem))
    if (Value &value = counted.values[id];
        problem.ops[value.op].kind != OpKind::View) {
      value.home = Home::Arena;
      end.reads.push_back({id, Access::Any, Need::Memory});
    }
  Value last;
  last.name = end.name;
  last.op = static_cast<OpId>(counted.ops.size());
  last.home = Home::Result;
  for (Value &value : counted.values) {
    last.shape = std::max(last.shape, value.shape + 1);
    if (value.home != Home::Hosted ||
        counted.values[value.host].home == Home::Result)
      continue;
    value.home = Home::Arena;
    value.host = none;
  }
  end.results.push_back(static_cast<ValueId>(counted.values.size()));
  counted.values.push_back(std::move(last));
  counted.ops.push_back(std::move(end));
  return counted;
}

/// The plan without a limit, with the kernel of the last op of \p counted.
Solution ScratchSearch::unlimitedOf(const Problem &counted) const {
  Draft draft;
  draft.plan = withoutSlots(unlimited.plan);
  Kernel end;
  end.ops = {static_cast<OpId>(problem.ops.size())};
  end.outputs = {static_cast<ValueId>(problem.values.size())};
  draft.plan.kernels.push_back(std::move(end));
  draft.verdict = validate(counted, draft.plan, /*slots=*/false);
  return assignOffsets(counted, std::move(draft), /*budgetBytes=*/0);
}

/// A plan of `countResults` without the kernel of its last op. A result that
/// was dropped and made again there stays in its buffer.
Solution ScratchSearch::uncounted(Solution solution) const {
  auto end = static_cast<OpId>(problem.ops.size());
  std::vector<Kernel> &all = solution.plan.kernels;
  all.erase(std::remove_if(
                all.begin(), all.end(),
                [&](const Kernel &kernel) { return kernel.ops.back() == end; }),
            all.end());
  writeResultsOnce(problem, solution.plan);
  return solution;
}

/// \p solution in an arena of \p bytes, as far as values that lie in results
/// make that possible.
Solution ScratchSearch::placed(const Solution &solution, int64_t bytes) const {
  Draft draft;
  draft.plan = withoutSlots(solution.plan);
  draft.verdict = validate(problem, draft.plan, /*slots=*/false);
  if (!draft.usable() || !draft.verdict.error.empty())
    return {std::move(draft.plan), std::move(draft.verdict)};
  Solution made =
      assignInResults(problem, std::move(draft), bytes, clock.at(1));
  made.subSolver = solution.subSolver;
  return made;
}

/// Makes \p solution the answer if it fits and is better; says whether it fits.
bool ScratchSearch::enter(Solution solution) {
  if (solution.plan.kernels.empty() || !solution.verdict.error.empty() ||
      solution.plan.arenaBytes > budget)
    return false;
  auto costs = [](const Solution &of) {
    return std::pair(of.verdict.timeNs, of.verdict.extraFlops);
  };
  if (!result.best)
    result.firstPlanMs = clock.ms();
  if (result.best && costs(solution) >= costs(*result.best))
    return true;
  if (options.progress)
    options.progress("found a plan of " +
                     formatBytes(solution.plan.arenaBytes) + " with " +
                     formatCount(solution.verdict.extraFlops) + " extra FLOPs");
  result.best = std::move(solution);
  return true;
}

/// Whether a value lies in the arena that no result and no budget has room for:
/// fewer bytes of all do not make searches avoid it.
bool ScratchSearch::holdsTooLarge(const Solution &solution) const {
  const std::vector<Instance> &all = solution.verdict.instances;
  return std::any_of(all.begin(), all.end(), [&](const Instance &instance) {
    return isInArena(problem, instance) &&
           problem.values[instance.value].bytes > budget;
  });
}

/// Makes \p solution the smallest plan if it is. Messages name its bytes, and
/// a search for as many shall find it again: no plan comes here that depends on
/// the budget or on the time that others took.
void ScratchSearch::keepSmallest(const Solution &solution) {
  Solution &smallest = result.smallest;
  bool isFirst = smallest.plan.kernels.empty();
  if (isFirst || (solution.verdict.error.empty() &&
                  solution.plan.arenaBytes < smallest.plan.arenaBytes))
    smallest = solution;
}

/// Searches plans of all bytes, from the plan \p start without a limit. Values
/// are larger than the gaps between others, so that some plans do not fit: then
/// fewer bytes count. A part of the time is for others, unless a plan fits.
void ScratchSearch::searchAll(const Problem &counted, const Solution &start) {
  constexpr int rounds = 4;
  constexpr double share = 0.3, close = 0.02;
  SolverOptions quiet = options;
  quiet.onPlan = nullptr;
  quiet.progress = nullptr;
  int64_t fits = 0;
  for (const Read &read : counted.ops.back().reads)
    fits += slotBytes(problem.values[read.value].bytes);
  int64_t exceeds = fits + budget, bytes = exceeds;
  auto closest = static_cast<int64_t>(close * static_cast<double>(budget));
  for (int i = 0; i < rounds && exceeds - fits > closest &&
                  !clock.isOver(result.best ? 1 : shareOfAll);
       ++i) {
    BudgetResult found =
        BudgetSearch(counted, bytes, clock.rest(quiet, share), &start).run();
    result.stoppedByClock |= found.stoppedByClock;
    if (!found.best) {
      enter(placed(uncounted(std::move(found.smallest)), budget));
      return;
    }
    int64_t needed = std::min(bytes, found.best->plan.arenaBytes);
    Solution made = placed(uncounted(std::move(*found.best)), budget);
    if (!made.verdict.error.empty() || holdsTooLarge(made))
      return;
    int64_t excess = made.plan.arenaBytes - budget;
    if (enter(std::move(made)))
      fits = bytes;
    else
      exceeds = needed;
    int64_t middle = fits + (exceeds - fits) / 2;
    bytes = result.best ? middle : std::max(middle, exceeds - excess);
  }
}

/// Searches plans of the arena alone, first for the budget. Results often have
/// room for values of these, so that the arena of the next plan may be larger.
void ScratchSearch::searchArena() {
  constexpr int rounds = 3;
  constexpr double share = 0.7, worthwhile = 1.01;
  int64_t bytes = budget;
  for (int i = 0; i < rounds; ++i) {
    bool isFirst = i == 0;
    SolverOptions limited = isFirst ? clock.lasting(options, shareOfArena)
                                    : clock.rest(options, share);
    BudgetResult found = BudgetSearch(problem, bytes, limited, &unlimited,
                                      isFirst ? least : LeastCosts())
                             .run();
    result.stoppedByClock |= found.stoppedByClock;
    if (isFirst)
      keepSmallest(found.smallest);
    const Solution &plan = found.best ? *found.best : found.smallest;
    if (plan.plan.kernels.empty())
      return;
    Solution smallest = placed(plan, fewestBytes);
    if (isFirst && !found.best)
      keepSmallest(smallest);
    int64_t room = plan.plan.arenaBytes - smallest.plan.arenaBytes;
    bool fits = enter(plan);
    fits |= enter(placed(plan, budget));
    fits |= enter(std::move(smallest));
    auto next = static_cast<double>(budget + room);
    if ((!isFirst && !fits) || next < worthwhile * static_cast<double>(bytes) ||
        clock.isOver(result.best ? 1 : shareOfAll + shareOfArena))
      return;
    bytes = budget + room;
  }
}

/// The smallest plan of all bytes: it is smaller than that of the arena where
/// results have much room.
void ScratchSearch::findSmallest(const Problem &counted,
                                 const Solution &start) {
  BudgetResult found =
      BudgetSearch(counted, /*budgetBytes=*/0,
                   clock.lasting(options, shareOfSmallest), &start)
          .run();
  Solution smallest = placed(uncounted(std::move(found.smallest)), fewestBytes);
  keepSmallest(smallest);
  enter(std::move(smallest));
}

/// Whether results have room for a part of the step that is worth a search.
bool ScratchSearch::hasScratch() const {
  constexpr int64_t worthwhilePart = 100;
  return mostScratchBytes(problem) > unlimited.plan.arenaBytes / worthwhilePart;
}

BudgetResult ScratchSearch::run() {
  if (unlimited.plan.arenaBytes <= budget || !hasScratch())
    return BudgetSearch(problem, budget, options, &unlimited, least).run();
  if (enter(placed(unlimited, budget)))
    return std::move(result);
  const Problem counted = countResults();
  const Solution start = unlimitedOf(counted);
  searchAll(counted, start);
  if (!result.best)
    searchArena();
  if (!result.best)
    findSmallest(counted, start);
  return std::move(result);
}

BudgetResult ckpt::plan::searchInResults(const Problem &problem,
                                         int64_t budgetBytes,
                                         const SolverOptions &options,
                                         const Solution *unlimited,
                                         LeastCosts least) {
  return ScratchSearch(problem, budgetBytes, options, unlimited, least).run();
}
