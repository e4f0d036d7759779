//===- ScratchSearch.cpp - Plans that use the buffers of results ----------===//
//
// The search for a budget knows the arena alone. Two arms run that search with
// more bytes: of the step as it is, and of a problem with all the bytes that
// there are, in which a result takes its bytes from its kernel to the end. At
// any time a plan of the latter holds as much as fits the arena and the results
// that are not written yet. The packer divides the values of each plan among
// them, and its need leads an arm to the next bytes.
//
//===----------------------------------------------------------------------===//

#include "Plan/Portfolio/ScratchSearch.h"
#include "Plan/Improve/MergeMove.h"
#include "Plan/Improve/ReduceMemory.h"
#include "Plan/Model/PlanEdit.h"
#include "Plan/Packing/AssignOffsets.h"
#include "Plan/Portfolio/BudgetSearch.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/ResultScratch.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

using namespace ckpt::plan;

namespace {
/// Shares of the limit for a round, and for the smallest plan of an arm.
constexpr double shareOfRound = 0.12, shareOfSmallest = 0.12;
/// Rounds of each arm, after a first one of the arena. The better arm then has
/// the rest of the limit, about a third.
constexpr int rounds = 2;

class ScratchSearch {
public:
  ScratchSearch(const Problem &problem, int64_t budgetBytes,
                const SolverOptions &options, const Solution *unlimited,
                LeastCosts least)
      : problem(problem), budget(budgetBytes), options(options), least(least),
        clock(options),
        unlimited(unlimited ? *unlimited : solveUnlimited(problem, options)),
        objective(RematGraph(problem, options.fusion),
                  this->unlimited.verdict.timeNs) {}

  BudgetResult run();

private:
  /// Searches of one problem, with other bytes in each round.
  struct Arm {
    Arm(const Problem &problem, const Solution &start, int64_t bytes,
        int64_t low, int64_t high)
        : problem(problem), start(start), bytes(bytes), low(low), high(high),
          bestBytes(bytes) {}

    const Problem &problem;
    /// Its plan without a limit.
    const Solution &start;
    /// The bytes of the next round, and the range of all later ones: fewer are
    /// not worth a search, and more have no room.
    int64_t bytes, low, high;
    bool isFinished = false;
    /// The score of its best plan that has room, and the bytes of that round;
    /// the first bytes if there is none.
    double bestScore = std::numeric_limits<double>::max();
    int64_t bestBytes;
  };

  Problem countResults() const;
  Solution unlimitedOf(const Problem &counted) const;
  Solution uncounted(Solution solution) const;
  bool hasScratch() const;
  void runRounds(const Problem &counted, const Solution &start);
  void runRound(Arm &arm, SolverOptions limited);
  SolverOptions oneRound() const {
    return clock.lasting(options, shareOfRound);
  }
  bool countsResults(const Arm &arm) const { return &arm.problem != &problem; }
  Solution planOfStep(const Arm &arm, Solution solution) const {
    return countsResults(arm) ? uncounted(std::move(solution)) : solution;
  }
  Solution fitted(const Arm &arm, const Solution &found,
                  int64_t neededBytes) const;
  std::optional<int64_t> tryPlan(Arm &arm, const Solution &found);
  void chooseNext(Arm &arm, int64_t planBytes, int64_t arenaBytes) const;
  void raise(Arm &arm) const;
  /// So many bytes more or less hardly change a plan.
  int64_t closeBytes() const { return budget / 100; }
  void findSmallest(const Arm &arm);
  bool holdsTooLarge(const Solution &solution) const;
  Solution placed(const Solution &solution, int64_t bytes) const;
  bool enter(Solution solution);
  /// Whether nothing can be better, or the time is over.
  bool isDone() const {
    return clock.isOver() ||
           (result.best && result.best->verdict.timeNs <= least.timeNs &&
            result.best->verdict.extraFlops <= least.extraFlops);
  }
  void keepSmallest(const Solution &solution);

  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  const LeastCosts least;
  const Clock clock;
  const Solution unlimited;
  const PlanScore objective;
  BudgetResult result;
  double bestScore = std::numeric_limits<double>::max();
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
  double score = objective.of(solution.verdict);
  if (score >= bestScore)
    return true;
  if (!result.best)
    result.firstPlanMs = clock.ms();
  if (options.progress)
    options.progress("found a plan of " +
                     formatBytes(solution.plan.arenaBytes) + " with " +
                     formatCount(solution.verdict.extraFlops) + " extra FLOPs");
  bestScore = score;
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

/// Makes \p solution the smallest plan if it is.
void ScratchSearch::keepSmallest(const Solution &solution) {
  Solution &smallest = result.smallest;
  bool isFirst = smallest.plan.kernels.empty();
  if (isFirst || (solution.verdict.error.empty() &&
                  solution.plan.arenaBytes < smallest.plan.arenaBytes))
    smallest = solution;
}

/// The plan \p found of \p arm, which needs an arena of \p neededBytes, more
/// than the budget: moves of single kernels make it smaller. Empty if that
/// fails.
Solution ScratchSearch::fitted(const Arm &arm, const Solution &found,
                               int64_t neededBytes) const {
  constexpr int mostTries = 5;
  constexpr double shareOfFit = 0.05;
  MemoryOptions fit;
  fit.budgetBytes = found.plan.arenaBytes;
  fit.flopNs = objective.flopNs();
  fit.mostNs = bestScore;
  fit.deadline = clock.in(std::clamp(1 - clock.share(), 0.0, shareOfFit));
  for (int i = 0; i < mostTries; ++i) {
    fit.budgetBytes -= std::max(neededBytes - budget, closeBytes());
    Solution smaller;
    smaller.plan = withoutSlots(found.plan);
    smaller.subSolver = found.subSolver;
    if (!reduceMemory(arm.problem, smaller.plan, fit))
      break;
    smaller.verdict = mergeKernels(arm.problem, smaller.plan, fit.budgetBytes);
    if (objective.of(smaller.verdict) >= bestScore)
      break;
    Solution made = placed(planOfStep(arm, std::move(smaller)), budget);
    neededBytes = made.plan.arenaBytes;
    if (neededBytes <= budget)
      return made;
  }
  return {};
}

/// Enters the plan \p found of \p arm. Returns the bytes of the arena that it
/// needs beside its values in results; none if other bytes cannot help.
std::optional<int64_t> ScratchSearch::tryPlan(Arm &arm, const Solution &found) {
  if (found.plan.kernels.empty())
    return std::nullopt;
  Solution plan = planOfStep(arm, found);
  Solution made = placed(plan, budget);
  if (!made.verdict.error.empty() || holdsTooLarge(made))
    return std::nullopt;
  int64_t arenaBytes = made.plan.arenaBytes;
  if (!countsResults(arm) && plan.plan.arenaBytes <= budget)
    made = plan;
  else if (arenaBytes > budget)
    made = fitted(arm, found, arenaBytes);
  double score = objective.of(made.verdict);
  if (!enter(std::move(made)))
    return arenaBytes;
  if (score < arm.bestScore) {
    arm.bestScore = score;
    arm.bestBytes = arm.bytes;
  }
  return arenaBytes > budget ? arenaBytes
                             : placed(plan, fewestBytes).plan.arenaBytes;
}

/// Moves \p arm to the bytes whose plan would just have room: the last one has
/// \p planBytes, and needs an arena of \p arenaBytes.
void ScratchSearch::chooseNext(Arm &arm, int64_t planBytes,
                               int64_t arenaBytes) const {
  const int64_t step = closeBytes();
  int64_t next = planBytes + budget - arenaBytes;
  if (arenaBytes <= budget) {
    arm.low = arm.bytes;
  } else {
    arm.high = std::min(arm.bytes, planBytes);
    next = std::min(next, arm.high - step);
  }
  bool isBetween = next > arm.low + step && next < arm.high;
  arm.bytes = isBetween ? next : arm.low + (arm.high - arm.low) / 2;
  arm.isFinished = arm.high - arm.low <= step;
}

/// Moves \p arm to more bytes, as it found no plan.
void ScratchSearch::raise(Arm &arm) const {
  arm.low = arm.bytes;
  arm.bytes += (arm.high - arm.low) / 2;
  arm.isFinished = arm.high - arm.low <= closeBytes();
}

/// Searches once in \p arm.
void ScratchSearch::runRound(Arm &arm, SolverOptions limited) {
  limited.progress = nullptr;
  if (countsResults(arm))
    limited.onPlan = nullptr;
  BudgetResult found =
      BudgetSearch(arm.problem, arm.bytes, limited, &arm.start, least).run();
  result.stoppedByClock |= found.stoppedByClock;
  const Solution &plan = found.best ? *found.best : found.smallest;
  std::optional<int64_t> arenaBytes = tryPlan(arm, plan);
  if (!arenaBytes)
    arm.isFinished = true;
  else if (found.best)
    chooseNext(arm, plan.plan.arenaBytes, *arenaBytes);
  else
    raise(arm);
}

/// Both arms in turn. Then that of the best plan has the rest of the time; if
/// there is none, that of the arena and the fewest bytes of all.
void ScratchSearch::runRounds(const Problem &counted, const Solution &start) {
  constexpr double half = 0.5;
  int64_t scratch = 0;
  for (const Read &read : counted.ops.back().reads)
    scratch += slotBytes(problem.values[read.value].bytes);
  const int64_t most = budget + scratch;
  Arm arena{problem, unlimited, budget, budget, most};
  Arm all{counted, start, most, scratch, most};
  runRound(arena, oneRound());
  if (!result.best) {
    findSmallest(arena);
    findSmallest(all);
  }
  for (int i = 0; i < rounds; ++i)
    for (Arm *arm : {&all, &arena})
      if (!arm->isFinished && !isDone())
        runRound(*arm, oneRound());
  Arm &better = all.bestScore < arena.bestScore ? all : arena;
  if (result.best && !better.isFinished && !isDone())
    runRound(better, oneRound());
  if (!clock.isLimited() || isDone())
    return;
  better.bytes = better.bestBytes;
  runRound(better, clock.rest(options, result.best ? 1 : half));
  if (result.best || isDone())
    return;
  all.bytes = all.low;
  runRound(all, clock.rest(options, 1));
}

/// The smallest plan of \p arm, whatever the budget: messages name its bytes,
/// and a search for as many shall find it again. That of all bytes is smaller
/// than that of the arena where results have much room.
void ScratchSearch::findSmallest(const Arm &arm) {
  SolverOptions limited = clock.lasting(options, shareOfSmallest);
  limited.progress = nullptr;
  limited.onPlan = nullptr;
  BudgetResult found =
      BudgetSearch(arm.problem, /*budgetBytes=*/0, limited, &arm.start).run();
  Solution plan = planOfStep(arm, std::move(found.smallest));
  Solution smallest = placed(plan, fewestBytes);
  if (!countsResults(arm) && plan.plan.arenaBytes <= smallest.plan.arenaBytes)
    smallest = std::move(plan);
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
  if (enter(placed(unlimited, budget))) {
    result.smallest = *result.best;
    return std::move(result);
  }
  const Problem counted = countResults();
  runRounds(counted, unlimitedOf(counted));
  if (result.best)
    keepSmallest(*result.best);
  return std::move(result);
}

BudgetResult ckpt::plan::searchInResults(const Problem &problem,
                                         int64_t budgetBytes,
                                         const SolverOptions &options,
                                         const Solution *unlimited,
                                         LeastCosts least) {
  return ScratchSearch(problem, budgetBytes, options, unlimited, least).run();
}
