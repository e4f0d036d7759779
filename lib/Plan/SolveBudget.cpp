//===- SolveBudget.cpp - A portfolio of walks for one budget --------------===//
//
// No single setting of prices is best: low prices win time at loose budgets,
// weighted contractions win FLOPs, walks without a guide win at the deepest
// budgets. Each setting first gets the budget as its cap; since merging kernels
// and slots change what is really needed, the cap is then scaled by what came
// out.
//
//===----------------------------------------------------------------------===//

#include "PostPasses.h"
#include "Search.h"

#include <algorithm>
#include <string>

using namespace ckpt::plan;

namespace {

struct Setting {
  bool guided, delayHeld;
  double reserve, floorPrice, contractionWeight, readWeight;
};

/// In the order in which they run.
constexpr Setting settings[] = {
    {false, false, 0, 1.5, 4, 0.5},   {false, true, 0, 0.3, 8, 1},
    {true, true, 0, 0.3, 8, 1},       {true, true, 0, 1.5, 4, 0.5},
    {true, true, 0.15, 4, 8, 0.5},    {true, false, 0, 1.5, 4, 0.5},
    {true, false, 0.15, 4, 8, 0.5},   {false, false, 0, 6, 4, 0},
    {false, false, 0.2, 1.5, 4, 0.5}, {true, false, 0.15, 4, 8, 0},
};

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
        graph(problem, options.fusion), rolling(graph) {}
  BudgetResult run();

private:
  void prepare();
  void runRound(int round);
  void runAttempt(Attempt &attempt);
  std::optional<int64_t> tryPlan(Draft draft, double &score);
  std::optional<Guide> guideFor(const RollOptions &rollOptions);
  double scoreOf(const Verdict &verdict) const;
  bool isOver() {
    result.stoppedByClock = watch.ms() > options.timeLimitMs;
    return result.stoppedByClock;
  }

  /// The order of a walk without a limit and its tightest root.
  struct Loose {
    double floorPrice, contractionWeight, readWeight;
    std::vector<OpId> order;
    OpId tightest;
  };

  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  Stopwatch watch;
  Graph graph;
  Rolling rolling;
  BudgetResult result;
  std::vector<Attempt> attempts;
  std::vector<Loose> loose;
  double nsPerFlop = 0;
  double bestScore = std::numeric_limits<double>::max();
};

} // namespace

/// Time, with extra FLOPs counted on top as if they took time once more: what
/// is bound by memory here may be bound by arithmetic elsewhere.
double BudgetSearch::scoreOf(const Verdict &verdict) const {
  constexpr double flopWeight = 2;
  return static_cast<double>(verdict.timeNs) +
         flopWeight * nsPerFlop * static_cast<double>(verdict.extraFlops);
}

/// Places the slots of a plan and enters it. Returns its arena, or its live
/// bytes if those alone exceed the budget and it is not the smallest so far.
std::optional<int64_t> BudgetSearch::tryPlan(Draft draft, double &score) {
  if (!draft.usable())
    return std::nullopt;
  bool hasSmallest = !result.smallest.plan.kernels.empty();
  int64_t live = draft.verdict.livePeakBytes;
  score = scoreOf(draft.verdict);
  bool mayBeBest = live <= budget && score < bestScore;
  bool maybeSmallest = !hasSmallest || live < result.smallest.plan.arenaBytes;
  if (!mayBeBest && !(maybeSmallest && !result.best))
    return live;
  Solution solution = placeSlots(problem, std::move(draft), budget);
  if (!solution.verdict.error.empty())
    return std::nullopt;
  int64_t arena = solution.plan.arenaBytes;
  if (!hasSmallest || arena < result.smallest.plan.arenaBytes)
    result.smallest = solution;
  if (arena <= budget && score < bestScore) {
    if (!result.best)
      result.firstPlanMs = watch.ms();
    bestScore = score;
    result.best = std::move(solution);
  }
  return arena;
}

std::optional<Guide> BudgetSearch::guideFor(const RollOptions &rollOptions) {
  auto matches = [&](const Loose &walk) {
    return walk.floorPrice == rollOptions.floorPrice &&
           walk.contractionWeight == rollOptions.contractionWeight &&
           walk.readWeight == rollOptions.readWeight;
  };
  auto found = std::find_if(loose.begin(), loose.end(), matches);
  if (found == loose.end()) {
    RollOptions unlimited = rollOptions;
    unlimited.capBytes = RollOptions().capBytes;
    unlimited.reserve = 0;
    unlimited.delayHeld = false;
    RollResult walk = rolling.run(unlimited);
    if (!walk.complete)
      return std::nullopt;
    int32_t peak = validate(problem, walk.plan, false).peakKernel;
    size_t index =
        std::lower_bound(walk.rootKernel.begin(), walk.rootKernel.end(), peak) -
        walk.rootKernel.begin();
    OpId tightest = walk.rootOrder[std::min(index, walk.rootOrder.size() - 1)];
    loose.push_back({rollOptions.floorPrice, rollOptions.contractionWeight,
                     rollOptions.readWeight, std::move(walk.rootOrder),
                     tightest});
    found = loose.end() - 1;
  }
  return rolling.makeGuide(rollOptions, found->order, found->tightest);
}

/// One walk, then the next cap: between the closest that fitted and the closest
/// that did not, guessed from what the plan really needs.
void BudgetSearch::runAttempt(Attempt &attempt) {
  RollOptions rollOptions;
  rollOptions.capBytes = static_cast<int64_t>(attempt.cap);
  rollOptions.floorPrice = attempt.setting.floorPrice;
  rollOptions.contractionWeight = attempt.setting.contractionWeight;
  rollOptions.readWeight = attempt.setting.readWeight;
  rollOptions.reserve = attempt.setting.reserve;
  rollOptions.reorder = options.reorder;
  rollOptions.delayHeld = options.reorder && attempt.setting.delayHeld;
  std::optional<Guide> guide;
  if (attempt.setting.guided) {
    guide = guideFor(rollOptions);
    if (guide)
      rollOptions.guide = &*guide;
    rollOptions.reserve = 0;
  }
  ++attempt.runs;
  Draft draft = makeDraft(rolling, graph, rollOptions, options, budget);
  std::optional<int64_t> bytes = tryPlan(std::move(draft), attempt.score);
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
    next *= bytes
                ? std::min(0.995, 0.998 * target / static_cast<double>(*bytes))
                : 0.9;
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
    if (attempt.finished ||
        (round > 0 && attempt.fits > 0 && attempt.score > 1.03 * bestScore))
      continue;
    if (attempt.runs + result.best.has_value() > 0 && isOver())
      return;
    // Before there is any plan, the next cap is worth more than the next
    // setting.
    int patience = result.best ? 1 : 3;
    do
      runAttempt(attempt);
    while (--patience > 0 && !result.best && !attempt.finished &&
           options.timeLimitMs > 0 && !isOver());
    if (options.progress)
      options.progress("walk " + std::to_string(attempt.runs) + " of setting " +
                       std::to_string(&attempt - attempts.data()));
  }
}

void BudgetSearch::prepare() {
  // A plan that recomputes nothing is hard to beat where it fits.
  Draft fast = draftUnlimited(graph, options, budget + budget / 4);
  int64_t flops = 0;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op] && isAnchor(problem.ops[op]))
      flops += problem.ops[op].flops;
  nsPerFlop = static_cast<double>(fast.verdict.timeNs) /
              static_cast<double>(std::max<int64_t>(flops, 1));
  double score = 0;
  tryPlan(std::move(fast), score);
  for (const Setting &setting : settings) {
    Attempt attempt;
    attempt.setting = setting;
    attempt.cap = static_cast<double>(budget);
    attempts.push_back(attempt);
  }
}

BudgetResult BudgetSearch::run() {
  constexpr int rounds = 5;
  prepare();
  if (result.best)
    return std::move(result);
  for (int round = 0; round < rounds; ++round) {
    runRound(round);
    if (isOver() || options.timeLimitMs == 0)
      break;
  }
  if (result.best &&
      result.best->plan.arenaBytes < result.smallest.plan.arenaBytes)
    result.smallest = *result.best;
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
