//===- SolveBudget.cpp - A portfolio of walks for one budget --------------===//
//
// No single setting of prices is best: low prices win time at loose budgets,
// weighted contractions win FLOPs, walks without a guide win at the deepest
// budgets. Each setting first gets the budget as its cap; since merging kernels
// and slots change what is really needed, the cap is then scaled by what came
// out. Where nothing fits, walks with caps that do not depend on the budget
// look for the smallest plan.
//
//===----------------------------------------------------------------------===//

#include "PostPasses.h"
#include "Walker.h"
#include "ckpt/Plan/Budget.h"

#include <algorithm>
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

class BudgetSearch {
public:
  BudgetSearch(const Problem &problem, int64_t budgetBytes,
               const SolverOptions &options)
      : problem(problem), budget(budgetBytes), options(options),
        walker(problem, options) {}
  BudgetResult run();

private:
  bool tryUnlimited();
  void runRounds();
  void runRound(int round);
  void runAttempt(Attempt &attempt);
  void chooseNextCap(Attempt &attempt, std::optional<int64_t> bytes);
  void runLadder();
  std::optional<int64_t> tryPlan(Draft draft, double &score);
  void keepIfSmallest(const Solution &solution);
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
  /// When walks give up: not before the smallest plan is known.
  std::chrono::steady_clock::time_point deadline() const {
    if (options.timeLimitMs == 0 || result.smallest.plan.kernels.empty())
      return RollOptions().deadline;
    return watch.start() + std::chrono::milliseconds(options.timeLimitMs);
  }

  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  Stopwatch watch;
  Walker walker;
  BudgetResult result;
  std::vector<Attempt> attempts;
  /// Of the plan that recomputes nothing.
  int64_t unlimitedBytes = 0;
  double bestScore = std::numeric_limits<double>::max();
};

} // namespace

/// Time, with extra FLOPs counted on top as if they took time once more: what
/// is bound by memory here may be bound by arithmetic elsewhere.
double BudgetSearch::scoreOf(const Verdict &verdict) const {
  constexpr double flopWeight = 2;
  return static_cast<double>(verdict.timeNs) +
         flopWeight * walker.nsPerFlop() *
             static_cast<double>(verdict.extraFlops);
}

/// Places the slots of a plan and enters it if it is the best. Returns what it
/// needs: its arena, or its live bytes if nothing was placed.
std::optional<int64_t> BudgetSearch::tryPlan(Draft draft, double &score) {
  // Where simple orders miss the budget by more, a search rarely helps.
  constexpr double worthSearching = 1.03;
  if (!draft.usable())
    return std::nullopt;
  if (options.onPlan)
    options.onPlan(draft.plan, draft.verdict);
  int64_t live = draft.verdict.livePeakBytes;
  score = scoreOf(draft.verdict);
  if (live > budget || score >= bestScore)
    return live;
  Solution solution = placeSlots(problem, draft, budget, PackEffort::Orders);
  auto arena = [&] { return solution.plan.arenaBytes; };
  if (arena() > budget && static_cast<double>(arena()) <
                              worthSearching * static_cast<double>(budget))
    solution = placeSlots(problem, std::move(draft), budget);
  if (!solution.verdict.error.empty())
    return std::nullopt;
  if (arena() > budget)
    return arena();
  if (!result.best)
    result.firstPlanMs = watch.ms();
  bestScore = score;
  keepIfSmallest(solution);
  if (options.progress)
    options.progress("found a plan of " + formatBytes(arena()) + " with " +
                     formatCount(solution.verdict.extraFlops) + " extra FLOPs");
  int64_t bytes = arena();
  result.best = std::move(solution);
  return bytes;
}

void BudgetSearch::keepIfSmallest(const Solution &solution) {
  if (result.smallest.plan.kernels.empty() ||
      solution.plan.arenaBytes < result.smallest.plan.arenaBytes)
    result.smallest = solution;
}

void BudgetSearch::runAttempt(Attempt &attempt) {
  ++attempt.runs;
  Draft draft =
      walker.walk(attempt.setting, attempt.cap, budget, 2, deadline());
  chooseNextCap(attempt, tryPlan(std::move(draft), attempt.score));
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
  for (Attempt &attempt : attempts) {
    if (attempt.finished || (round == 0 && attempt.runs > 0 && result.best) ||
        (round > 0 && attempt.fits > 0 && attempt.score > 1.03 * bestScore))
      continue;
    // Before there is any plan, the next cap is worth more than the next
    // setting.
    int patience = result.best ? 1 : 2;
    do {
      if (roundsAreOver())
        return;
      runAttempt(attempt);
    } while (--patience > 0 && !result.best && !attempt.finished);
  }
}

/// A plan that recomputes nothing is hard to beat where it fits.
bool BudgetSearch::tryUnlimited() {
  Draft draft = walker.walkUnlimited(budget + budget / 4);
  if (!draft.usable())
    return false;
  unlimitedBytes = draft.verdict.livePeakBytes;
  double score = 0;
  std::optional<int64_t> bytes = tryPlan(std::move(draft), score);
  return bytes && *bytes <= budget;
}

void BudgetSearch::runRounds() {
  constexpr int mostRounds = 5;
  for (const Setting &setting : walkSettings) {
    Attempt attempt;
    attempt.setting = setting;
    attempt.cap = static_cast<double>(budget);
    attempts.push_back(attempt);
  }
  runAttempt(attempts[0]);
  if (!result.best)
    runAttempt(attempts[1]);
  if (tryUnlimited())
    return;
  int rounds = options.timeLimitMs > 0 ? mostRounds : 1;
  for (int round = 0; round < rounds && !roundsAreOver(); ++round)
    runRound(round);
}

/// Caps and merges depend on the problem alone, so that a budget reported as
/// the smallest is one for which planning succeeds.
void BudgetSearch::runLadder() {
  for (double share : ladderShares)
    for (const Setting &setting : ladderSettings) {
      if (!result.smallest.plan.kernels.empty() && isOver())
        return;
      Draft draft =
          walker.walk(setting, share * static_cast<double>(unlimitedBytes), 0,
                      4, deadline());
      if (!draft.usable())
        continue;
      Solution solution = placeSlots(problem, draft, 0, PackEffort::Orders);
      if (!solution.verdict.error.empty())
        continue;
      keepIfSmallest(solution);
      double score = 0;
      tryPlan(std::move(draft), score);
    }
}

BudgetResult BudgetSearch::run() {
  result.smallest.verdict.error = walker.error();
  if (!walker.error().empty())
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
