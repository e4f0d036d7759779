//===- SolveBudget.cpp - A portfolio of walks for one budget --------------===//
//
// No single setting of prices is best: low prices win time at loose budgets,
// weighted contractions win FLOPs, walks without a guide win at the deepest
// budgets. Each setting first gets the budget as its cap. Merging kernels and
// slots change the need of a plan, so the need of the last plan scales the cap.
// If nothing fits, the search for the smallest plan follows (MinimumBudget.h).
//
// Walks run two at a time and are judged in their order, so that the result
// does not depend on the number of processors.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/List/QuickPlan.h"
#include "Plan/Improve/Anneal/RetentionAnnealing.h"
#include "Plan/Improve/KeepMove.h"
#include "Plan/Improve/MergeMove.h"
#include "Plan/Improve/RematExchange.h"
#include "Plan/Model/AsWrittenPlan.h"
#include "Plan/Model/RunBoth.h"
#include "Plan/Portfolio/BudgetSearch.h"
#include "Plan/Portfolio/MinimumBudget.h"
#include "Plan/Portfolio/RegionSearch.h"
#include "Plan/Portfolio/ScratchSearch.h"
#include "ckpt/Plan/Budget.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

using namespace ckpt::plan;

MemoryOptions BudgetSearch::fitOptions(int64_t budgetBytes) const {
  MemoryOptions fit;
  fit.budgetBytes = budgetBytes;
  fit.flopNs = objective.flopNs();
  fit.mostNs = bestScore;
  fit.deadline = limits().deadline;
  return fit;
}

/// The limits of walks: they give up once they have recomputed so much that
/// they cannot win (with a score that is better by \p slack later), and by the
/// clock, which waits a little for the first plan.
WalkLimits BudgetSearch::limits(double slack) const {
  WalkLimits limits;
  limits.deadline = deadline(result.best ? walksUntil : shareWithoutPlan);
  if (result.best && objective.nsPerFlop > 0)
    limits.extraFlops = static_cast<int64_t>(
        std::max(0.0, (slack * bestScore - leastNs) /
                          ((PlanScore::flopWeight + 1) * objective.nsPerFlop)));
  return limits;
}

/// Lowers the least time by the time of \p draft without its extra FLOPs.
void BudgetSearch::lowerLeast(const Draft &draft) {
  if (draft.usable())
    leastNs = std::min(leastNs,
                       static_cast<double>(draft.verdict.timeNs) -
                           objective.nsPerFlop *
                               static_cast<double>(draft.verdict.extraFlops));
}

/// Places the slots of \p outcome's plan, which may be the best.
void BudgetSearch::place(Outcome &outcome) const {
  Solution solution = assignOffsets(problem, outcome.draft, budget,
                                    PackEffort::Search, deadline(shareOfLimit));
  outcome.bytes = solution.plan.arenaBytes;
  if (solution.verdict.error.empty())
    outcome.solution = std::move(solution);
}

/// Changes a plan that may be the best and needs a little too much: live or, as
/// its slots do not fit without gaps, in the arena.
void BudgetSearch::fit(Outcome &outcome) const {
  constexpr int mostTries = 5;
  // Places depend on much: where gaps are large, a little less often has few.
  constexpr double nearWithGaps = 1.15;
  const int64_t mostLess = budget / 40;
  int64_t target = budget;
  bool isPlaced = outcome.solution.has_value();
  Outcome fitting;
  fitting.bytes = outcome.bytes;
  for (int i = 0; i < mostTries; ++i) {
    if (!fitting.isNear(budget, isPlaced ? nearWithGaps : nearBudget))
      return;
    if (isPlaced)
      target -= std::min(*fitting.bytes - budget, mostLess);
    fitting = Outcome();
    fitting.draft.plan = outcome.draft.plan;
    if (!reduceMemory(problem, fitting.draft.plan, fitOptions(target)))
      return;
    fitting.draft.verdict = mergeKernels(problem, fitting.draft.plan, target);
    fitting.score = scoreOf(fitting.draft.verdict);
    if (fitting.score >= bestScore)
      return;
    place(fitting);
    isPlaced = true;
    if (fitting.isWithin(budget)) {
      outcome = std::move(fitting);
      return;
    }
  }
}

/// Looks at the need of a plan, and at its slots if it may be the best.
Outcome BudgetSearch::judge(Draft draft) const {
  Outcome outcome;
  if (!draft.usable())
    return outcome;
  outcome.score = scoreOf(draft.verdict);
  outcome.bytes = draft.verdict.livePeakBytes;
  outcome.draft = std::move(draft);
  if (outcome.score < bestScore) {
    if (*outcome.bytes <= budget)
      place(outcome);
    if (*outcome.bytes > budget)
      fit(outcome);
  }
  outcome.foundMs = clock.ms();
  return outcome;
}

/// Makes a plan that fits the best, and says whether it is.
bool BudgetSearch::enter(Outcome &outcome) {
  lowerLeast(outcome.draft);
  if (!outcome.bytes)
    return false;
  if (options.onPlan)
    options.onPlan(outcome.draft.plan, outcome.draft.verdict);
  outcome.score = scoreOf(outcome.draft.verdict);
  if (!outcome.isWithin(budget))
    return false;
  if (!outcome.solution || outcome.score >= bestScore) {
    keepOther(outcome.draft);
    return false;
  }
  outcome.solution->subSolver = running;
  if (!result.best)
    result.firstPlanMs = outcome.foundMs;
  else
    keepOther({withoutSlots(result.best->plan), result.best->verdict});
  bestScore = outcome.score;
  keepIfSmallest(*outcome.solution);
  if (options.progress)
    options.progress(
        "found a plan of " + formatBytes(*outcome.bytes) + " with " +
        formatCount(outcome.solution->verdict.extraFlops) + " extra FLOPs");
  result.best = std::move(*outcome.solution);
  isProven = isBestPossible(result.best->verdict);
  return true;
}

/// Keeps \p draft, which is within the budget and not the best, among the best
/// plans with other remats than each other.
void BudgetSearch::keepOther(const Draft &draft) {
  constexpr size_t most = 4;
  auto isAlike = [&](const Draft &other) {
    return draft.verdict.extraFlops == other.verdict.extraFlops;
  };
  auto place = std::find_if(others.begin(), others.end(), [&](const Draft &o) {
    return isAlike(o) || scoreOf(draft.verdict) < scoreOf(o.verdict);
  });
  if (place != others.end() &&
      scoreOf(draft.verdict) >= scoreOf(place->verdict))
    return;
  place = others.insert(place, draft);
  others.erase(std::remove_if(place + 1, others.end(), isAlike), others.end());
  if (others.size() > most)
    others.pop_back();
}

void BudgetSearch::keepIfSmallest(const Solution &solution) {
  if (!result.smallest.plan.kernels.empty() &&
      solution.plan.arenaBytes >= result.smallest.plan.arenaBytes)
    return;
  result.smallest = solution;
  if (result.smallest.subSolver.empty())
    result.smallest.subSolver = running;
}

/// Walks at most two attempts at once. If one fits the budget, the other one
/// gets a few times as long: a walk that finds no way can take longer than all
/// others together.
void BudgetSearch::runAttempts(const std::vector<Attempt *> &batch) {
  constexpr int patience = 3;
  constexpr double leastShare = 0.02;
  // Walks compete with walks: the best plan may be refitted already.
  double slack = std::clamp(bestWalkScore / bestScore, 1.0, mostSlack);
  Cutoff cutoff(clock);
  auto walk = [&](size_t lane) {
    const Attempt &attempt = *batch[lane];
    WalkLimits now = limits(slack);
    now.runOnce = attempt.runOnce.empty() ? nullptr : &attempt.runOnce;
    now.cutoff = &cutoff;
    int64_t start = clock.ns();
    Outcome outcome =
        judge(walks[lane].run(attempt.setting, attempt.cap, budget, now));
    int64_t taken = clock.ns() - start;
    if (clock.isLimited() && outcome.isWithin(budget))
      cutoff.set(std::max(start + patience * taken,
                          clock.ns() + clock.part(leastShare / shareOfLimit)));
    return outcome;
  };
  Outcome outcomes[2];
  if (batch.size() > 1)
    runLanes([&](size_t lane) { outcomes[lane] = walk(lane); });
  else
    outcomes[0] = walk(0);
  for (size_t lane = 0; lane < batch.size(); ++lane) {
    Attempt &attempt = *batch[lane];
    enter(outcomes[lane]);
    if (outcomes[lane].isWithin(budget) &&
        outcomes[lane].score < bestWalkScore) {
      bestWalkScore = outcomes[lane].score;
      bestSetting = attempt.setting;
      bestCap = attempt.cap;
    }
    if (!outcomes[lane].isWithin(budget) &&
        outcomes[lane].isNear(budget, nearBudget) &&
        outcomes[lane].score < nearMissScore) {
      nearMissScore = outcomes[lane].score;
      nearMiss = outcomes[lane].draft.plan;
    }
    ++attempt.runs;
    attempt.score = outcomes[lane].score;
    attempt.bytes = outcomes[lane].bytes;
    chooseNextCap(attempt, budget, result.best.has_value());
  }
}

/// All settings once.
void BudgetSearch::runRound() {
  std::vector<Attempt *> batch;
  for (Attempt &attempt : attempts) {
    bool last = &attempt == &attempts.back();
    if (!attempt.finished && (attempt.runs == 0 || !result.best))
      batch.push_back(&attempt);
    if (batch.empty() || (batch.size() < 2 && !last))
      continue;
    // Before there is any plan, the next cap is worth more than the next
    // setting.
    for (int tries = 2; tries > 0 && !batch.empty(); --tries) {
      if (roundsAreOver())
        return;
      runAttempts(batch);
      if (result.best)
        break;
      dropFinished(batch);
    }
    batch.clear();
  }
}

/// A plan that recomputes nothing is hard to beat where it fits.
bool BudgetSearch::tryUnlimited() {
  if (unlimited.plan.kernels.empty())
    return false;
  unlimitedBytes = unlimited.verdict.livePeakBytes;
  unlimitedPlan = withoutSlots(unlimited.plan);
  Running part(*this, part::unlimited);
  if (!part)
    return false;
  Outcome outcome = judge({unlimitedPlan, unlimited.verdict});
  enter(outcome);
  return outcome.isWithin(budget);
}

/// No plan shall be slower than the program as it is, where that fits.
void BudgetSearch::tryAsWritten() {
  Running part(*this, part::asWritten);
  if (!part)
    return;
  Plan plan = asWrittenPlan(problem);
  Verdict verdict = validate(problem, plan, /*slots=*/false);
  bool isBetter = verdict.error.empty() && verdict.livePeakBytes <= budget &&
                  (!result.best || scoreOf(verdict) < bestScore);
  if (isBetter)
    enterAsItIs(std::move(plan));
}

/// Whether so much is made again that some of it may be worth making again more
/// than once.
bool BudgetSearch::isDeep() const {
  constexpr double much = 0.15;
  return !result.best || static_cast<double>(result.best->verdict.extraFlops) >
                             much * objective.stepFlops;
}

/// Each setting once, with the budget as its cap.
void BudgetSearch::startAttempts() {
  attempts.clear();
  if (!options.allows(part::walk))
    return;
  for (size_t i = 0; i < walkSettings.size(); ++i) {
    const Setting &setting = walkSettings[i];
    if (!options.allows(std::string(part::walk) + "-" + std::to_string(i + 1)))
      continue;
    Attempt attempt;
    attempt.setting = setting;
    attempt.cap = static_cast<double>(budget);
    attempts.push_back(attempt);
  }
}

void BudgetSearch::runFirstAttempts() {
  Running part(*this, part::walk);
  std::vector<Attempt *> batch;
  for (size_t i = 0; i < std::min<size_t>(2, attempts.size()); ++i)
    batch.push_back(&attempts[i]);
  if (!batch.empty())
    runAttempts(batch);
}

void BudgetSearch::runRounds() {
  constexpr double shareOfFirstWalks = 0.3;
  startAttempts();
  // If walks are slow, descents have their turn first.
  walksUntil = shareOfFirstWalks;
  runFirstAttempts();
  walksUntil = 1;
  if (tryUnlimited()) {
    // The plan without a limit spares memory, too.
    moveKernels();
    keepRepeated();
    keepRepeated(nearBudget);
    refit();
    return;
  }
  anneal();
  descend();
  walkOrDescend();
  refit();
  varyFirstPlan();
  polish();
  // Without a clock only where walks had no turn.
  constexpr double latestShare = 0.6, shareOfLastDescents = 1.15;
  bool isWanted = clock.isLimited() || areWalksBehind();
  if (result.best && isWanted && !isOver(latestShare))
    walkAgain();
  if (clock.isLimited())
    descendFurther(shareOfLastDescents, /*exchanging=*/true);
}

/// All settings, and walks near the best one. If the first walks are far
/// behind, descents instead.
void BudgetSearch::walkOrDescend() {
  constexpr double shareOfDescents = 0.6;
  bool areBehind = areWalksBehind();
  if (areBehind)
    descendFurther(shareOfDescents, /*exchanging=*/false);
  else if (Running part(*this, part::walk); part)
    runRound();
  if (isDeep())
    tryChains();
  if (!areWalksBehind())
    spareRepeats();
}

/// Walks that gave up, as they were far behind, may lead elsewhere once their
/// remats are spared and exchanged; and walks with the present knowledge.
void BudgetSearch::walkAgain() {
  constexpr double farBehind = 1.5;
  Running part(*this, part::walkAgain);
  if (!part)
    return;
  mostSlack = farBehind;
  startAttempts();
  runRound();
  spareRepeats();
  refit();
  polish();
}

/// Slots are packed only until they fit the budget. The answer's arena shall be
/// its largest live sum, if it can; if its slots leave gaps, the slots of a
/// plan that costs hardly more may not.
void BudgetSearch::tighten() {
  Running part(*this, part::tighten);
  if (!part)
    return;
  constexpr double hardlyMore = 1.02;
  auto isTight = [](const Solution &solution) {
    return solution.plan.arenaBytes <= solution.verdict.livePeakBytes;
  };
  bool isRepacked = true;
  auto takeIfTighter = [&](Plan plan) {
    Draft draft;
    draft.verdict = validate(problem, plan, /*slots=*/false);
    draft.plan = std::move(plan);
    Solution tight = assignOffsets(problem, draft, draft.verdict.livePeakBytes,
                                   PackEffort::Search, clock.at(1));
    // Other slots make no other plan.
    tight.subSolver =
        isRepacked ? result.best->subSolver : std::string(running);
    bool isSame =
        tight.verdict.livePeakBytes == result.best->verdict.livePeakBytes;
    bool isTighter =
        tight.verdict.error.empty() &&
        (isTight(tight) ||
         (isSame && tight.plan.arenaBytes < result.best->plan.arenaBytes));
    if (isTighter)
      result.best = std::move(tight);
    return isTighter;
  };
  if (!result.best || isTight(*result.best))
    return;
  takeIfTighter(withoutSlots(result.best->plan));
  isRepacked = false;
  if (isTight(*result.best) || !options.fusion)
    return;
  MemoryOptions fit = fitOptions(budget);
  fit.mostNs = hardlyMore * scoreOf(result.best->verdict);
  fit.deadline = deadline(shareOfLimit);
  exchangeRemats(problem, withoutSlots(result.best->plan), fit, takeIfTighter);
}

/// Whether some kernel alone needs more.
bool BudgetSearch::isHopeless() {
  if (!largestKernelBytes)
    largestKernelBytes = largestWorkingSet(problem).bytes;
  return budget < *largestKernelBytes;
}

/// Whether there is a plan to fall back on. The report names its bytes if it
/// does not fit.
void BudgetSearch::findSmallest() {
  result.smallest =
      MinimumSearch(graph, unlimited, options, clock, objective.flopNs())
          .run(budget);
}

/// Takes the smallest plan, without the remats for which the budget has room.
void BudgetSearch::takeSmallest() {
  constexpr std::array<int64_t, 5> percents = {100, 95, 90, 85, 80};
  if (result.smallest.plan.kernels.empty() ||
      result.smallest.plan.arenaBytes > budget)
    return;
  result.best = result.smallest;
  result.firstPlanMs = clock.ms();
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

BudgetResult BudgetSearch::run() {
  constexpr double shareOfFirst = 0.5;
  result.smallest.verdict.error = graph.error;
  if (!graph.error.empty())
    return std::move(result);
  tryFirstPlan();
  if (!result.best)
    findSmallest();
  if (isTooLargeToWalk(graph)) {
    // A walk would take minutes.
    if (!tryUnlimited())
      tryChains();
  } else if (!isHopeless()) {
    if (result.best && !isOver(shareOfFirst))
      keepRepeated();
    runRounds();
  }
  if (!result.best)
    takeSmallest();
  if (result.best && !isPart && !isTooLargeToWalk(graph))
    searchBelow();
  tryAsWritten();
  tighten();
  return std::move(result);
}

std::vector<std::string> ckpt::plan::subSolverNames() {
  std::vector<std::string> names(std::begin(part::all), std::end(part::all));
  auto add = [&](const std::string &name, size_t count) {
    for (size_t i = 1; i <= count; ++i)
      names.push_back(name + "-" + std::to_string(i));
  };
  add(part::walk, walkSettings.size());
  add(part::descent, numberOfDescents);
  return names;
}

BudgetResult ckpt::plan::solveBudget(const Problem &problem,
                                     int64_t budgetBytes,
                                     const SolverOptions &options,
                                     const Solution *unlimited,
                                     LeastCosts least) {
  // Nothing to run: the empty plan fits every budget.
  if (problem.ops.empty())
    return {Solution(), Solution(), std::nullopt, /*stoppedByClock=*/false,
            /*firstPlanMs=*/0};
  if (!problem.regions.empty())
    return searchRegions(problem, budgetBytes, options, unlimited);
  if (problem.scratchInResults)
    return searchInResults(problem, budgetBytes, options, unlimited, least);
  return BudgetSearch(problem, budgetBytes, options, unlimited, least).run();
}
