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

#include "BlockChain.h"
#include "BudgetWalk.h"
#include "FirstPlan.h"
#include "PostPasses.h"
#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Budget.h"

#include <algorithm>
#include <future>
#include <string>

using namespace ckpt::plan;

namespace {

/// Where the search for the right cap of one setting stands.
struct Attempt {
  Setting setting;
  double cap = 0;
  /// Largest cap whose plan fitted, smallest whose plan did not.
  double fits = 0;
  double exceeds = 0;
  double score = 0;
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
  void polish();
  void tryChain(KernelStages::Places places, KernelChain::Backward backward);
  std::optional<int64_t> enterChainPlan(Plan plan);
  void enterPlan(Plan plan);
  void runRounds();
  void runRound(int round);
  void runAttempts(const std::vector<Attempt *> &batch);
  void chooseNextCap(Attempt &attempt, std::optional<int64_t> bytes);
  void runLadder();
  Outcome judge(Draft draft) const;
  void enter(Outcome &outcome);
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
  bool roundsAreOver() { return isOver(result.best ? 1 : 1.25); }

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
Outcome BudgetSearch::judge(Draft draft) const {
  // Where simple orders miss the budget by more, a search rarely helps.
  constexpr double worthSearching = 1.03;
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

/// Makes what fits the best, if it is.
void BudgetSearch::enter(Outcome &outcome) {
  measureRate(outcome.draft);
  if (!outcome.bytes)
    return;
  if (options.onPlan)
    options.onPlan(outcome.draft.plan, outcome.draft.verdict);
  outcome.score = scoreOf(outcome.draft.verdict);
  if (!outcome.solution || *outcome.bytes > budget ||
      outcome.score >= bestScore)
    return;
  if (!result.best)
    result.firstPlanMs = outcome.foundMs;
  bestScore = outcome.score;
  keepIfSmallest(*outcome.solution);
  if (options.progress)
    options.progress(
        "found a plan of " + formatBytes(*outcome.bytes) + " with " +
        formatCount(outcome.solution->verdict.extraFlops) + " extra FLOPs");
  result.best = std::move(*outcome.solution);
}

void BudgetSearch::keepIfSmallest(const Solution &solution) {
  if (result.smallest.plan.kernels.empty() ||
      solution.plan.arenaBytes < result.smallest.plan.arenaBytes)
    result.smallest = solution;
}

/// Walks at most two attempts at once.
void BudgetSearch::runAttempts(const std::vector<Attempt *> &batch) {
  WalkLimits now = limits();
  auto walk = [&](size_t lane) {
    const Attempt &attempt = *batch[lane];
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
    enter(outcomes[lane]);
    ++attempt.runs;
    attempt.score = outcomes[lane].score;
    chooseNextCap(attempt, outcomes[lane].bytes);
  }
}

/// By what to scale a cap whose plan fits only \p ratio of itself. Near the
/// least memory a small step often helps and a large one makes walks run away.
static double shrink(double ratio) {
  if (ratio < 0.85)
    return 0.998 * ratio;
  return std::clamp(0.998 * ratio, 0.965, 0.995);
}

/// Between the closest cap that fitted and the closest that did not, guessed
/// from what the plan really needs.
void BudgetSearch::chooseNextCap(Attempt &attempt,
                                 std::optional<int64_t> bytes) {
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
  if (attempt.exceeds > 0 && attempt.fits > attempt.exceeds * 0.99)
    attempt.finished = true;
  attempt.finished |= next < 1 || next > 8 * target;
  attempt.cap = next;
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
      batch.erase(std::remove_if(batch.begin(), batch.end(),
                                 [](Attempt *each) { return each->finished; }),
                  batch.end());
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

void BudgetSearch::enterPlan(Plan plan) {
  Draft draft;
  draft.verdict = validate(problem, plan, false);
  if (!draft.verdict.error.empty())
    return;
  draft.plan = std::move(plan);
  Outcome outcome = judge(std::move(draft));
  enter(outcome);
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

/// Enters \p plan, which may also be the smallest; what it needs.
std::optional<int64_t> BudgetSearch::enterChainPlan(Plan plan) {
  Draft draft;
  draft.verdict = improve(problem, plan, budget);
  if (!draft.verdict.error.empty())
    return std::nullopt;
  draft.plan = std::move(plan);
  Outcome outcome = judge(std::move(draft));
  enter(outcome);
  return outcome.bytes;
}

/// Deep budgets need what walks do not see: that what is made again may have to
/// be made again once more.
void BudgetSearch::tryChain(KernelStages::Places places,
                            KernelChain::Backward backward) {
  constexpr int mostTries = 6;
  if (unlimitedPlan.kernels.empty())
    return;
  BlockChain chain(problem, unlimitedPlan, places, backward, budget);
  Draft least;
  least.plan = chain.plan(0);
  least.verdict = improve(problem, least.plan, 0);
  if (!result.best && least.verdict.error.empty())
    keepIfSmallest(placeSlots(problem, least, 0, PackEffort::Orders));
  int64_t cap = budget;
  for (int i = 0; i < mostTries; ++i) {
    int32_t point = std::max(chain.within(cap), 0);
    std::optional<int64_t> bytes = enterChainPlan(chain.plan(point));
    if (!bytes || *bytes <= budget || point == 0)
      return;
    cap = std::min(cap - (*bytes - budget), chain.points()[point].bytes - 1);
  }
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
  using Places = KernelStages::Places;
  using Backward = KernelChain::Backward;
  for (Places places : {Places::Narrow, Places::All})
    for (Backward backward : {Backward::Early, Backward::Late})
      tryChain(places, backward);
  int rounds = options.timeLimitMs > 0 ? mostRounds : 1;
  for (int round = 0; round < rounds && !roundsAreOver(); ++round)
    runRound(round);
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
