//===- Descent.cpp - Plans of one budget that walks do not make -----------===//
//
// Walks decide kernel by kernel. Other methods are better at other questions
// (which values to make again more than once, which single ops to keep, which
// launches to save); their plans compete with the walks' plans.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Greedy/Eviction.h"
#include "Plan/Construct/Greedy/GreedyRemat.h"
#include "Plan/Construct/List/QuickPlan.h"
#include "Plan/Improve/Anneal/RetentionAnnealing.h"
#include "Plan/Improve/KeepMove.h"
#include "Plan/Improve/MergeMove.h"
#include "Plan/Improve/ReduceTime.h"
#include "Plan/Improve/RematExchange.h"
#include "Plan/Model/RunBoth.h"
#include "Plan/Portfolio/BudgetSearch.h"

#include <array>
#include <cmath>
#include <utility>

using namespace ckpt::plan;

/// Makes the plan the best if it fits and is, and says whether it is.
bool BudgetSearch::enterPlan(Plan plan) {
  Draft draft;
  draft.verdict = validate(problem, plan, false);
  if (!draft.verdict.error.empty())
    return false;
  draft.plan = std::move(plan);
  Outcome outcome = judge(std::move(draft));
  return enter(outcome);
}

/// Enters the plan if its slots fit without changes, and says whether they do.
bool BudgetSearch::enterAsItIs(Plan plan) {
  Outcome outcome;
  outcome.draft.verdict = validate(problem, plan, /*slots=*/false);
  outcome.draft.plan = std::move(plan);
  outcome.foundMs = clock.ms();
  place(outcome);
  enter(outcome);
  return outcome.isWithin(budget);
}

/// Plans that are that far behind with some prices are with others, too.
static constexpr double worthVarying = 1.1;

/// In milliseconds, and no worse than a walk that gives up.
void BudgetSearch::tryFirstPlan() {
  if (!isTooLargeToWalk(graph) && isHopeless())
    return;
  if (Running part(*this, part::listSchedule); part)
    enterFirst(placedQuickPlan(graph, budget, options));
  Running part(*this, part::chain);
  if (part && !result.best && !unlimited.plan.kernels.empty())
    enterFirst(placedChainPlan(problem, withoutSlots(unlimited.plan), budget,
                               deadline(shareOfLimit)));
}

void BudgetSearch::enterFirst(std::optional<Solution> solution) {
  Outcome outcome;
  outcome.solution = std::move(solution);
  if (!outcome.solution)
    return;
  outcome.draft = {withoutSlots(outcome.solution->plan),
                   outcome.solution->verdict};
  outcome.bytes = outcome.solution->plan.arenaBytes;
  outcome.foundMs = clock.ms();
  enter(outcome);
}

/// Enters both plans that are not empty; the better score of them.
double BudgetSearch::enterBoth(const std::array<Plan *, 2> &plans) {
  double least = std::numeric_limits<double>::max();
  for (Plan *plan : plans) {
    if (plan->kernels.empty())
      continue;
    least = std::min(least, scoreOf(validate(problem, *plan, false)));
    enterPlan(std::move(*plan));
  }
  return least;
}

/// A first plan decides for one moment at a time, so that it repeats too much
/// elsewhere. Reduced to its necessary remats, it is as good as the plans of
/// walks, and another one.
void BudgetSearch::varyFirstPlan() {
  static constexpr std::array<CostWeights, 6> prices = {{
      {1.5, 8, 1},
      {1.5, 2, 1},
      {1.5, 8, 0.5},
      {1.5, 2, 0.5},
      {0.3, 8, 1},
      {0.3, 4, 1},
  }};
  Running part(*this, part::listPrices);
  if (!options.fusion || !part)
    return;
  auto make = [&](const CostWeights &weights) {
    Plan plan = quickPlan(graph, budget, options, weights).plan;
    if (!plan.kernels.empty()) {
      keepValues(problem, plan, budget, KeepEffort::Exact,
                 deadline(shareOfChanges));
      mergeKernels(problem, plan, budget);
      reduceTime(problem, plan, budget, deadline(shareOfChanges));
    }
    return plan;
  };
  for (size_t i = 0; i < prices.size() && !isOver(); i += 2) {
    auto [first, second] = runBoth(
        problem.ops.size(), [&] { return make(prices[i]); },
        [&] { return make(prices[i + 1]); });
    if (enterBoth({&first, &second}) > worthVarying * bestScore)
      return;
  }
}

/// Keeps the remats of the best plan for which \p share of the budget has room;
/// if that is too much, other values have to make room.
void BudgetSearch::keepRepeated(double share) {
  Running part(*this, part::keep);
  if (!part || !result.best)
    return;
  Plan plan = withoutSlots(result.best->plan);
  auto limit = static_cast<int64_t>(share * static_cast<double>(budget));
  if (keepValues(problem, plan, limit, KeepEffort::Exact,
                 deadline(shareOfLimit)))
    enterPlan(std::move(plan));
}

/// If launches count, moving and repeating whole kernels of the unlimited plan,
/// as other systems do it, can be better than any walk.
void BudgetSearch::moveKernels() {
  constexpr size_t mostMoved = 500;
  if (unlimitedPlan.kernels.empty() || unlimitedPlan.kernels.size() > mostMoved)
    return;
  if (!isOver(shareOfChanges))
    rematKernels();
  if (!isOver(shareOfChanges))
    evictValues();
}

/// As XLA does it.
void BudgetSearch::rematKernels() {
  Running part(*this, part::greedyRemat);
  if (!part)
    return;
  if (std::optional<Solution> moved =
          rematGreedily(problem, unlimitedPlan, budget, objective.flopNs(),
                        deadline(shareOfChanges)))
    enterPlan(withoutSlots(std::move(moved->plan)));
}

/// As dynamic tensor rematerialisation does it.
void BudgetSearch::evictValues() {
  Running part(*this, part::eviction);
  if (!part)
    return;
  const KernelGraph kernels(problem, unlimitedPlan);
  for (int percent : approachPercents)
    if (Plan plan = kernels.emit(evictGreedily(
            kernels,
            static_cast<int64_t>(static_cast<double>(budget) * percent / 100)));
        !plan.kernels.empty())
      enterPlan(std::move(plan));
}

/// A walk may repeat values that it had room to keep, or for which a cheaper
/// remat makes room.
void BudgetSearch::polish() {
  moveKernels();
  if (!result.best)
    return;
  keepRepeated();
  exchange({withoutSlots(result.best->plan), result.best->verdict});
  exchangeOthers();
}

void BudgetSearch::exchangeOthers() {
  Running part(*this, part::exchange);
  if (!part)
    return;
  for (const Draft &other : std::exchange(others, {}))
    if (other.verdict.extraFlops != result.best->verdict.extraFlops)
      exchange(other);
}

/// Asks of each remat of \p draft, which is within the budget, whether the plan
/// can do without.
void BudgetSearch::exchange(Draft draft) {
  Running part(*this, part::exchange);
  if (!part)
    return;
  MemoryOptions fit = fitOptions(budget);
  fit.mostNs = scoreOf(draft.verdict);
  fit.deadline = deadline(shareOfChanges);
  exchangeRemats(problem, std::move(draft.plan), fit,
                 [&](const Plan &better) { return enterAsItIs(better); });
}

/// A way down from the plan without a limit.
struct BudgetSearch::Descent {
  /// Weight of extra FLOPs, in times of their time.
  double flopWeight;
  /// Shares of the budget: the limit of the descent, and the limit within which
  /// remats may be dropped afterwards; none if 0. If live sums fill the budget,
  /// slots often do not fit.
  double share, keptWithin;
  /// How many budgets are met on the way, the last one too.
  int levels = 1;
  /// See `MemoryOptions`.
  uint64_t seed = 0;
};

/// The unlimited plan, changed until it meets the budget; empty if it costs
/// more than \p mostNs or the \p deadline comes first. At each level on the
/// way, remats for which there is room go: many changes in a row repeat for one
/// moment the values that a later change repeats for another.
Plan BudgetSearch::descended(const Descent &descent, double mostNs,
                             Deadline deadline) const {
  Plan plan = unlimitedPlan;
  double wanted = descent.share * static_cast<double>(budget);
  double above = static_cast<double>(unlimitedBytes) / wanted;
  MemoryOptions fit;
  fit.flopNs = descent.flopWeight * objective.nsPerFlop;
  // Values kept afterwards spare some of the cost.
  fit.mostNs = mostNs * std::max(1.0, 1 + descent.keptWithin - descent.share);
  fit.deadline = deadline;
  fit.seed = descent.seed;
  for (int level = descent.levels - 1; level >= 0; --level) {
    double left = static_cast<double>(level) / descent.levels;
    fit.budgetBytes = static_cast<int64_t>(wanted * std::pow(above, left));
    if (!reduceMemory(problem, plan, fit))
      return Plan();
    int64_t limit = fit.budgetBytes;
    if (level == 0)
      limit =
          std::max(limit, static_cast<int64_t>(descent.keptWithin *
                                               static_cast<double>(budget)));
    if (level > 0 || descent.keptWithin > 0)
      keepValues(problem, plan, limit, KeepEffort::Exact, deadline);
    mergeKernels(problem, plan, limit);
    reduceTime(problem, plan, limit, deadline);
  }
  return plan;
}

/// The kernels of the plan without a limit are the best there are. Changing
/// them one by one until the budget is met is often better than any walk. As
/// each change is made for good, several ways lead to different plans.
void BudgetSearch::descend() {
  static constexpr std::array<Descent, numberOfDescents> ways = {{
      {PlanScore::flopWeight, 1, 0.985},
      {PlanScore::flopWeight, 1, 0.985, 2},
      {3, 0.97, 1},
      {PlanScore::flopWeight, 1, 0.985, 4},
      {3, 1, 0.985},
      {PlanScore::flopWeight, 0.867, 0.985},
      {PlanScore::flopWeight, 1, 0},
      {PlanScore::flopWeight, 0.975, 0.975},
  }};
  constexpr double latest = 0.6, shareOfDescents = 0.2, shareInstead = 0.4;
  Running part(*this, part::descent);
  if (!part || !mayDescend() || (result.best && isOver(latest)))
    return;
  // If walks found no plan, only the clock ends it early.
  double until =
      shareOver() +
      (areWalksBehind() || !result.best ? shareInstead : shareOfDescents);
  std::vector<Descent> chosen;
  for (size_t i = 0; i < ways.size(); ++i)
    if (options.allows(std::string(part::descent) + "-" +
                       std::to_string(i + 1)))
      chosen.push_back(ways[i]);
  for (size_t i = 0; i < chosen.size(); i += 2)
    if (!descendBoth(chosen[i], chosen[std::min(i + 1, chosen.size() - 1)],
                     until))
      return;
}

/// Whether both lead to plans that are not far behind, and more of them may be
/// tried before \p share of the time is over.
bool BudgetSearch::descendBoth(const Descent &first, const Descent &second,
                               double share) {
  auto until = deadline(share);
  double mostNs = gainOfRefitting * bestScore;
  auto [left, right] = runBoth(
      problem.ops.size(), [&] { return descended(first, mostNs, until); },
      [&] { return descended(second, mostNs, until); });
  return enterBoth({&left, &right}) <= worthVarying * bestScore &&
         !until.isOver();
}

/// Two ways down with prices that are drawn at random: see `descendBoth`.
bool BudgetSearch::descendAtRandom(double share) {
  if (!mayDescend())
    return false;
  descents += 2;
  return descendBoth({PlanScore::flopWeight, 1, 0.985, 1, descents - 1},
                     {3, 1, 0.985, 1, descents}, share);
}

/// Until \p share of the time is over, as long as it leads to better plans. If
/// \p exchanging, each of them has its repeats exchanged: small differences at
/// first lead far from each other then.
void BudgetSearch::descendFurther(double share, bool exchanging) {
  int patience = clock.isLimited() ? 6 : 1;
  Running part(*this, part::randomDescent);
  if (!part)
    return;
  for (int inVain = 0; inVain < patience; ++inVain) {
    double before = bestScore;
    if (!descendAtRandom(share))
      return;
    if (exchanging && result.best)
      exchangeOthers();
    if (bestScore < before)
      inVain = -1;
  }
}

/// Enters \p plan, which may also be the smallest; returns its need.
std::optional<int64_t> BudgetSearch::enterChainPlan(Plan plan) {
  Draft draft;
  draft.verdict = mergeKernels(problem, plan, budget);
  if (!draft.verdict.error.empty())
    return std::nullopt;
  draft.plan = std::move(plan);
  Outcome outcome = judge(std::move(draft));
  enter(outcome);
  return outcome.bytes;
}

/// Deep budgets need remats of remats, which walks do not see.
void BudgetSearch::tryChain(const ChainOptions &chainOptions) {
  if (unlimitedPlan.kernels.empty())
    return;
  ChainDP chain(problem, unlimitedPlan, chainOptions);
  if (chain.points().empty())
    return;
  chain.tryWithin(budget,
                  [&](Plan plan) { return enterChainPlan(std::move(plan)); });
}

void BudgetSearch::tryChains() {
  Running part(*this, part::chain);
  if (!part)
    return;
  // For large steps one chain may take a second.
  constexpr double latest = 0.8;
  ChainOptions chain;
  chain.mostBytes = budget;
  chain.deadline = deadline(shareOfLimit);
  for (KernelStages::Places places :
       {KernelStages::Places::Narrow, KernelStages::Places::All})
    for (KernelChain::Backward backward :
         {KernelChain::Backward::Early, KernelChain::Backward::Late}) {
      chain.places = places;
      chain.backward = backward;
      if (isOver(!isTooLargeToWalk(graph) ? shareOfLimit
                 : result.best            ? latest
                                          : 1))
        return;
      tryChain(chain);
    }
}

/// Single ops as kernels leave only the choice of kept values: annealing finds
/// better plans than most walks.
void BudgetSearch::anneal() {
  constexpr size_t mostKernels = 3000;
  Running part(*this, part::annealing);
  if (!part || !hasFixedKernels(problem) || unlimitedPlan.kernels.empty() ||
      unlimitedPlan.kernels.size() > mostKernels)
    return;
  Plan start = unlimitedPlan;
  std::sort(start.kernels.begin(), start.kernels.end(),
            [](const Kernel &left, const Kernel &right) {
              return left.ops.back() < right.ops.back();
            });
  Verdict inOrder = validate(problem, start, false);
  if (!inOrder.error.empty() || inOrder.livePeakBytes > unlimitedBytes)
    start = unlimitedPlan;
  RetentionOptions retention;
  retention.budgetBytes = budget;
  retention.flopNs = objective.flopNs();
  constexpr double shareOfAnnealing = 0.8;
  retention.deadline = deadline(shareOfAnnealing * shareOfLimit);
  if (!clock.isLimited())
    retention.mostRounds = 1;
  // Its plans are few and good: their places are worth a search.
  retention.enter = [&](Plan plan) { return enterPlan(std::move(plan)); };
  annealRetention(problem, start, retention);
}

/// Moves that save time most often need a little more memory. They also start
/// from plans of walks with smaller caps, from the second best plan, which goes
/// other ways, and from the best plan that needs too much.
void BudgetSearch::refit() {
  constexpr std::array<double, 3> shares = {0.985, 0.96, 0.92};
  constexpr size_t count = shares.size() + 3;
  // Most gain in score by these moves.
  constexpr double gain = 1.03;
  Running part(*this, part::reduceTime);
  if (!result.best || !options.fusion || !part)
    return;
  bool mayWalk =
      options.allows(part::walkRefit) && bestCap > 0 && clock.isLimited();
  WalkLimits walkLimits = limits(gain);
  std::array<Plan, count> plans;
  plans[0] = withoutSlots(result.best->plan);
  if (!others.empty())
    plans[1] = others.front().plan;
  plans[2] = std::move(nearMiss);
  auto make = [&](size_t lane) {
    for (size_t i = lane; i < count; i += 2) {
      if (i >= count - shares.size() && mayWalk)
        plans[i] =
            walks[lane]
                .run(bestSetting, shares[i + shares.size() - count] * bestCap,
                     budget, walkLimits)
                .plan;
      if (!reduceTime(problem, plans[i], budget, deadline(shareOfChanges)))
        plans[i] = Plan();
    }
  };
  runLanes(make);
  for (Plan &plan : plans)
    if (!plan.kernels.empty())
      enterPlan(std::move(plan));
}
