//===- SolveBudget.cpp - A portfolio of walks for one budget --------------===//
//
// No single setting of prices is best: low prices win time at loose budgets,
// weighted contractions win FLOPs, walks without a guide win at the deepest
// budgets. Each setting first gets the budget as its cap; since merging kernels
// and slots change what is really needed, the cap is then scaled by what came
// out. Where nothing fits, walks with caps that do not depend on the budget
// look for the smallest plan.
//
// Walks run two at a time and are judged in their order, so that the result
// does not depend on the number of processors.
//
//===----------------------------------------------------------------------===//

#include "BudgetWalk.h"
#include "FirstPlan.h"
#include "RetentionSearch.h"
#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Budget.h"

#include <algorithm>
#include <future>
#include <map>
#include <string>

using namespace ckpt::plan;

namespace {

/// Where the search for the right cap of one setting stands.
struct Attempt {
  Setting setting;
  /// See `RollOptions::runOnce`; empty: nothing is said.
  std::vector<char> runOnce;
  double cap = 0;
  /// Largest cap whose plan fitted, smallest whose plan did not.
  double fits = 0;
  double exceeds = 0;
  /// Of the last run.
  double score = 0;
  std::optional<int64_t> bytes;
  int runs = 0;
  bool finished = false;
};

/// What one walk came to.
struct Outcome {
  Draft draft;
  /// Set if slots were placed.
  std::optional<Solution> solution;
  /// What it needs: its arena, or its live bytes if no slots were placed.
  std::optional<int64_t> bytes;
  double score = 0;
  int64_t foundMs = 0;
};

/// Where simple orders miss the budget by more, a search for places rarely
/// helps.
constexpr double nearBudget = 1.03;

class BudgetSearch {
public:
  BudgetSearch(const Problem &problem, int64_t budgetBytes,
               const SolverOptions &options)
      : problem(problem), budget(budgetBytes), options(options),
        graph(problem, options.fusion),
        walks{{graph, options, loose}, {graph, options, loose}} {}
  BudgetResult run();

private:
  bool tryUnlimited();
  void spareRepeats();
  void polish();
  void searchFixedKernels();
  bool enterPlan(Plan plan, double worthSearching = nearBudget);
  void runRounds();
  void runRound(int round);
  void runAttempts(const std::vector<Attempt *> &batch);
  void chooseNextCap(Attempt &attempt);
  void runLadder();
  Outcome judge(Draft draft, double worthSearching = nearBudget) const;
  bool enter(Outcome &outcome);
  void keepIfSmallest(const Solution &solution);
  void measureRate(const Draft &draft);
  WalkLimits limits() const;
  double scoreOf(const Verdict &verdict) const;
  /// Whether \p share of the time is over. Without a limit it never is.
  bool isOver(double share = 1) {
    bool over = options.timeLimitMs > 0 &&
                static_cast<double>(watch.ms()) >
                    share * static_cast<double>(options.timeLimitMs);
    result.stoppedByClock |= over && share == 1;
    return over;
  }
  /// Rounds go on a little beyond the limit while there is no plan: those of
  /// the ladder, which come then, fit but cost much.
  bool roundsAreOver() { return isOver(result.best ? 0.6 : 1.25); }

  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  Stopwatch watch;
  Graph graph;
  LooseWalks loose;
  BudgetWalk walks[2];
  BudgetResult result;
  std::vector<Attempt> attempts;
  /// Of the plan that recomputes nothing.
  int64_t unlimitedBytes = 0;
  Plan unlimitedPlan;
  /// Time per FLOP, and the least time without what is recomputed.
  double nsPerFlop = 0;
  double leastNs = std::numeric_limits<double>::max();
  double bestScore = std::numeric_limits<double>::max();
  /// What the best plan of a walk came from.
  Setting bestSetting = walkSettings[0];
  double bestCap = 0;
};

} // namespace

/// Extra FLOPs count on top of their time as if they took it several times
/// more: what is bound by memory here may be bound by arithmetic elsewhere.
static constexpr double flopWeight = 5;

double BudgetSearch::scoreOf(const Verdict &verdict) const {
  return static_cast<double>(verdict.timeNs) +
         flopWeight * nsPerFlop * static_cast<double>(verdict.extraFlops);
}

/// When walks give up: once they have recomputed so much that they cannot win,
/// and by the clock, but not before the smallest plan is known.
WalkLimits BudgetSearch::limits() const {
  WalkLimits limits;
  if (options.timeLimitMs > 0 && !result.smallest.plan.kernels.empty())
    limits.deadline =
        watch.start() + std::chrono::milliseconds(options.timeLimitMs);
  if (result.best && nsPerFlop > 0)
    limits.extraFlops = static_cast<int64_t>(
        std::max(0.0, (bestScore - leastNs) / ((flopWeight + 1) * nsPerFlop)));
  return limits;
}

void BudgetSearch::measureRate(const Draft &draft) {
  if (!draft.usable())
    return;
  if (nsPerFlop == 0) {
    int64_t flops = 1;
    for (size_t op = 0; op < problem.ops.size(); ++op)
      if (graph.live[op] && isAnchor(problem.ops[op]))
        flops += problem.ops[op].flops;
    nsPerFlop = static_cast<double>(draft.verdict.timeNs) /
                static_cast<double>(flops + draft.verdict.extraFlops);
  }
  leastNs = std::min(
      leastNs, static_cast<double>(draft.verdict.timeNs) -
                   nsPerFlop * static_cast<double>(draft.verdict.extraFlops));
}

/// Places the slots of a plan that may be the best.
Outcome BudgetSearch::judge(Draft draft, double worthSearching) const {
  Outcome outcome;
  if (!draft.usable())
    return outcome;
  outcome.score = scoreOf(draft.verdict);
  outcome.bytes = draft.verdict.livePeakBytes;
  if (*outcome.bytes <= budget && outcome.score < bestScore) {
    Solution solution = placeSlots(problem, draft, budget, PackEffort::Orders);
    int64_t arena = solution.plan.arenaBytes;
    if (arena > budget && static_cast<double>(arena) <
                              worthSearching * static_cast<double>(budget))
      solution = placeSlots(problem, draft, budget);
    outcome.bytes = solution.plan.arenaBytes;
    if (solution.verdict.error.empty())
      outcome.solution = std::move(solution);
  }
  outcome.draft = std::move(draft);
  outcome.foundMs = watch.ms();
  return outcome;
}

/// Makes what fits the best, and says whether it is.
bool BudgetSearch::enter(Outcome &outcome) {
  measureRate(outcome.draft);
  if (!outcome.bytes)
    return false;
  if (options.onPlan)
    options.onPlan(outcome.draft.plan, outcome.draft.verdict);
  outcome.score = scoreOf(outcome.draft.verdict);
  if (!outcome.solution || *outcome.bytes > budget ||
      outcome.score >= bestScore)
    return false;
  if (!result.best)
    result.firstPlanMs = outcome.foundMs;
  bestScore = outcome.score;
  keepIfSmallest(*outcome.solution);
  if (options.progress)
    options.progress(
        "found a plan of " + formatBytes(*outcome.bytes) + " with " +
        formatCount(outcome.solution->verdict.extraFlops) + " extra FLOPs");
  result.best = std::move(*outcome.solution);
  return true;
}

void BudgetSearch::keepIfSmallest(const Solution &solution) {
  if (result.smallest.plan.kernels.empty() ||
      solution.plan.arenaBytes < result.smallest.plan.arenaBytes)
    result.smallest = solution;
}

/// Walks at most two attempts at once.
void BudgetSearch::runAttempts(const std::vector<Attempt *> &batch) {
  auto walk = [&](size_t lane) {
    const Attempt &attempt = *batch[lane];
    WalkLimits now = limits();
    now.runOnce = attempt.runOnce.empty() ? nullptr : &attempt.runOnce;
    return judge(walks[lane].run(attempt.setting, attempt.cap, budget, now));
  };
  std::future<Outcome> other;
  if (batch.size() > 1)
    other = std::async(std::launch::async, walk, 1);
  Outcome outcomes[2] = {walk(0), Outcome()};
  if (batch.size() > 1)
    outcomes[1] = other.get();
  for (size_t lane = 0; lane < batch.size(); ++lane) {
    Attempt &attempt = *batch[lane];
    if (enter(outcomes[lane])) {
      bestSetting = attempt.setting;
      bestCap = attempt.cap;
    }
    ++attempt.runs;
    attempt.score = outcomes[lane].score;
    attempt.bytes = outcomes[lane].bytes;
    chooseNextCap(attempt);
  }
}

/// By what to scale a cap whose plan fits only \p ratio of itself. Near the
/// least memory a small step often helps and a large one makes walks run away.
static double shrink(double ratio) {
  if (ratio < 0.85)
    return 0.998 * ratio;
  if (ratio > 0.998)
    return 0.9995 * ratio;
  return std::clamp(0.998 * ratio, 0.965, 0.995);
}

/// Between the closest cap that fitted and the closest that did not, guessed
/// from what the plan really needs.
void BudgetSearch::chooseNextCap(Attempt &attempt) {
  std::optional<int64_t> bytes = attempt.bytes;
  double target = static_cast<double>(budget);
  double next = attempt.cap;
  if (bytes && *bytes <= budget) {
    attempt.fits = std::max(attempt.fits, attempt.cap);
    next *= target / static_cast<double>(std::max<int64_t>(*bytes, 1));
    if (static_cast<double>(*bytes) > 0.995 * target)
      attempt.finished = true;
  } else {
    attempt.exceeds = attempt.exceeds > 0
                          ? std::min(attempt.exceeds, attempt.cap)
                          : attempt.cap;
    next *= bytes ? shrink(target / static_cast<double>(*bytes)) : 0.96;
  }
  bool inside = next > attempt.fits * 1.002 &&
                (attempt.exceeds == 0 || next < attempt.exceeds * 0.998);
  if (!inside && attempt.exceeds > 0 && attempt.fits > 0)
    next = (attempt.fits + attempt.exceeds) / 2;
  double close = attempt.runOnce.empty() ? 0.99 : 0.999;
  if (attempt.exceeds > 0 && attempt.fits > attempt.exceeds * close)
    attempt.finished = true;
  attempt.finished |= next < 1 || next > 8 * target;
  attempt.cap = next;
}

static void dropFinished(std::vector<Attempt *> &batch) {
  batch.erase(std::remove_if(batch.begin(), batch.end(),
                             [](Attempt *each) { return each->finished; }),
              batch.end());
}

/// All settings once; later rounds leave out those far behind.
void BudgetSearch::runRound(int round) {
  std::vector<Attempt *> batch;
  for (Attempt &attempt : attempts) {
    bool last = &attempt == &attempts.back();
    bool skip =
        attempt.finished || (round == 0 && attempt.runs > 0 && result.best) ||
        (round > 0 && attempt.fits > 0 && attempt.score > 1.03 * bestScore);
    if (!skip)
      batch.push_back(&attempt);
    if (batch.empty() || (batch.size() < 2 && !last))
      continue;
    // Before there is any plan, the next cap is worth more than the next
    // setting.
    for (int patience = 2; patience > 0 && !batch.empty(); --patience) {
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
  Draft draft =
      draftUnlimited(walks[0].walker(), graph, options, budget + budget / 4);
  if (!draft.usable())
    return false;
  unlimitedBytes = draft.verdict.livePeakBytes;
  unlimitedPlan = draft.plan;
  Outcome outcome = judge(std::move(draft));
  enter(outcome);
  return outcome.bytes && *outcome.bytes <= budget;
}

static Plan withoutSlots(Plan plan) {
  for (Kernel &kernel : plan.kernels) {
    kernel.offsets.clear();
    kernel.workspaceOffset = -1;
  }
  plan.arenaBytes = 0;
  return plan;
}

/// Makes the plan the best if it fits and is, and says whether it is.
bool BudgetSearch::enterPlan(Plan plan, double worthSearching) {
  Draft draft;
  draft.verdict = validate(problem, plan, false);
  if (!draft.verdict.error.empty())
    return false;
  draft.plan = std::move(plan);
  Outcome outcome = judge(std::move(draft), worthSearching);
  return enter(outcome);
}

/// Anchors that \p plan runs more than once, in program order.
static std::vector<OpId> repeatedAnchors(const Problem &problem,
                                         const Plan &plan) {
  std::vector<int32_t> runs(problem.ops.size(), 0);
  for (const Kernel &kernel : plan.kernels)
    for (OpId op : kernel.ops)
      runs[op] += isAnchor(problem.ops[op]);
  std::vector<OpId> repeated;
  for (size_t op = 0; op < runs.size(); ++op)
    if (runs[op] > 1)
      repeated.push_back(static_cast<OpId>(op));
  return repeated;
}

/// The costliest first. Of those with the same work only a few: in models of
/// equal blocks they are alike.
static std::vector<OpId> worthSparing(const Problem &problem,
                                      const std::vector<OpId> &repeated) {
  constexpr size_t mostAlike = 4;
  std::map<int64_t, std::vector<OpId>, std::greater<>> byFlops;
  for (OpId op : repeated)
    byFlops[problem.ops[op].flops].push_back(op);
  std::vector<OpId> chosen;
  for (const auto &[flops, alike] : byFlops) {
    size_t count = std::min(alike.size(), mostAlike);
    for (size_t i = 0; i < count; ++i)
      chosen.push_back(
          alike[count > 1 ? i * (alike.size() - 1) / (count - 1) : 0]);
  }
  return chosen;
}

/// A walk may repeat what \p repeated holds but for \p spared, and what costs
/// less than that.
static std::vector<char> allBut(const Problem &problem, OpId spared,
                                const std::vector<OpId> &repeated) {
  std::vector<char> runOnce(problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    runOnce[op] = isAnchor(problem.ops[op]) &&
                  problem.ops[op].flops >= problem.ops[spared].flops;
  for (OpId op : repeated)
    runOnce[op] = op == spared;
  return runOnce;
}

/// The prices of a walk see only what differs between two corners; one repeat
/// too many may remain for a few bytes of what is cheap. Asks for each repeat
/// of the best plan whether the rest can do without it.
void BudgetSearch::spareRepeats() {
  constexpr int mostCaps = 4;
  bool better = bestCap > 0;
  while (better && !isOver()) {
    std::vector<Attempt> spares;
    std::vector<OpId> repeated = repeatedAnchors(problem, result.best->plan);
    for (OpId spared : worthSparing(problem, repeated)) {
      Attempt attempt;
      attempt.setting = bestSetting;
      attempt.cap = bestCap;
      attempt.runOnce = allBut(problem, spared, repeated);
      spares.push_back(std::move(attempt));
    }
    double before = bestScore;
    better = false;
    for (size_t i = 0; i < spares.size() && !better; i += 2) {
      std::vector<Attempt *> batch = {&spares[i]};
      if (i + 1 < spares.size())
        batch.push_back(&spares[i + 1]);
      for (int round = 0; round < mostCaps && !batch.empty() && !better;
           ++round) {
        if (isOver())
          return;
        runAttempts(batch);
        better = bestScore < before;
        // What is not better with too much memory is not with less.
        for (Attempt *attempt : batch)
          attempt->finished |= !attempt->bytes || (*attempt->bytes > budget &&
                                                   attempt->score >= bestScore);
        dropFinished(batch);
      }
    }
  }
}

/// Where launches count, moving and repeating whole kernels of the plan without
/// a limit can be better than any walk; and a walk may repeat what it had room
/// to keep. Both take a simulation per kernel and are left out where that is
/// long.
void BudgetSearch::polish() {
  constexpr size_t mostMoved = 500, mostSimulated = 200000;
  if (unlimitedPlan.kernels.size() <= mostMoved)
    if (std::optional<Solution> moved =
            repeatKernels(problem, unlimitedPlan, budget))
      enterPlan(withoutSlots(std::move(moved->plan)));
  if (!result.best)
    return;
  size_t repeats = 0;
  for (const Instance &instance : result.best->verdict.instances)
    repeats += instance.recomputed;
  if (repeats * result.best->plan.kernels.size() > mostSimulated)
    return;
  Plan plan = withoutSlots(result.best->plan);
  dropRepeats(problem, plan, budget);
  enterPlan(std::move(plan));
}

/// Single ops as kernels leave the choice of what is kept: annealing finds
/// better plans than any walk, often in a fraction of the time.
void BudgetSearch::searchFixedKernels() {
  constexpr size_t mostKernels = 3000;
  if (!hasFixedKernels(problem) || unlimitedPlan.kernels.empty() ||
      unlimitedPlan.kernels.size() > mostKernels)
    return;
  Plan start = unlimitedPlan;
  std::sort(start.kernels.begin(), start.kernels.end(),
            [](const Kernel &left, const Kernel &right) {
              return left.ops < right.ops;
            });
  Verdict inOrder = validate(problem, start, false);
  if (!inOrder.error.empty() || inOrder.livePeakBytes > unlimitedBytes)
    start = unlimitedPlan;
  RetentionOptions retention;
  retention.budgetBytes = budget;
  retention.flopNs = flopWeight * nsPerFlop;
  if (options.timeLimitMs > 0)
    retention.deadline =
        watch.start() + std::chrono::milliseconds(options.timeLimitMs);
  else
    retention.mostRounds = 1;
  // Its plans are few and good: their places are worth a search.
  retention.enter = [&](Plan plan) {
    return enterPlan(std::move(plan), std::numeric_limits<double>::infinity());
  };
  result.stoppedByClock |= !searchRetention(problem, start, retention);
}

void BudgetSearch::runRounds() {
  constexpr int mostRounds = 5;
  for (const Setting &setting : walkSettings) {
    Attempt attempt;
    attempt.setting = setting;
    attempt.cap = static_cast<double>(budget);
    attempts.push_back(attempt);
  }
  runAttempts({&attempts[0], &attempts[1]});
  if (tryUnlimited())
    return;
  searchFixedKernels();
  if (result.best && hasFixedKernels(problem))
    return;
  int rounds = options.timeLimitMs > 0 ? mostRounds : 1;
  for (int round = 0; round < rounds && !roundsAreOver(); ++round)
    runRound(round);
  spareRepeats();
  polish();
}

/// Caps and merges depend on the problem alone, so that a budget reported as
/// the smallest is one for which planning succeeds.
void BudgetSearch::runLadder() {
  for (double share : ladderShares)
    for (const Setting &setting : ladderSettings) {
      if (!result.smallest.plan.kernels.empty() && isOver())
        return;
      WalkLimits now = limits();
      now.kernelsPerRoot = 4;
      Draft draft = walks[0].run(
          setting, share * static_cast<double>(unlimitedBytes), 0, now);
      if (!draft.usable())
        continue;
      Solution solution = placeSlots(problem, draft, 0, PackEffort::Orders);
      if (!solution.verdict.error.empty())
        continue;
      keepIfSmallest(solution);
      Outcome outcome = judge(std::move(draft));
      enter(outcome);
    }
}

BudgetResult BudgetSearch::run() {
  result.smallest.verdict.error = graph.error;
  if (!graph.error.empty())
    return std::move(result);
  runRounds();
  if (!result.best)
    runLadder();
  // Walks here stop early; what the unlimited solver packs may still fit.
  if (!result.best && unlimitedBytes <= budget) {
    Solution unlimited = solveUnlimited(problem, options);
    if (unlimited.verdict.error.empty() &&
        unlimited.plan.arenaBytes <= budget) {
      keepIfSmallest(unlimited);
      result.best = std::move(unlimited);
    }
  }
  return std::move(result);
}

BudgetResult ckpt::plan::solveBudget(const Problem &problem,
                                     int64_t budgetBytes,
                                     const SolverOptions &options) {
  // Nothing to run: the empty plan fits every budget.
  if (problem.ops.empty())
    return {Solution(), Solution(), /*stoppedByClock=*/false,
            /*firstPlanMs=*/0};
  return BudgetSearch(problem, budgetBytes, options).run();
}
