//===- BudgetSearch.h - The search of one budget ----------------*- C++ -*-===//
//
// The state that the parts of `solveBudget` share: walks (SolveBudget.cpp) and
// their limits (WalkCap.cpp), walks near the best one (WalkNeighbourhood.cpp),
// plans made by other methods (Descent.cpp), plans of smaller budgets
// (LowerBudgets.cpp), and the smallest plan (MinimumBudget.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PORTFOLIO_BUDGETSEARCH_H
#define CKPT_LIB_PLAN_PORTFOLIO_BUDGETSEARCH_H

#include "Plan/Construct/Chain/ChainDP.h"
#include "Plan/Construct/KeepCut/CutWalk.h"
#include "Plan/Improve/ReduceMemory.h"
#include "Plan/Model/Clock.h"
#include "Plan/Portfolio/PlanScore.h"
#include "ckpt/Plan/Solvers.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ckpt::plan {

/// The state of the search for the right cap of one setting.
struct Attempt {
  Setting setting;
  /// See `CutOptions::runOnce`; empty: nothing is said.
  std::vector<char> runOnce;
  double cap = 0;
  /// Largest cap whose plan fitted, smallest whose plan did not, and largest
  /// below that with which the walk gave up; 0 if there is none.
  double fits = 0;
  double exceeds = 0;
  double givesUp = 0;
  /// Score of the last run.
  double score = 0;
  std::optional<int64_t> bytes;
  int runs = 0;
  bool finished = false;
};

/// Moves the cap of \p attempt after a run: between the closest that fitted and
/// the closest that did not, guessed from the need of the plan. With any plan
/// for the budget, walks give up once they cannot be better.
void chooseNextCap(Attempt &attempt, int64_t budgetBytes, bool anyPlan);

inline void dropFinished(std::vector<Attempt *> &batch) {
  batch.erase(std::remove_if(batch.begin(), batch.end(),
                             [](Attempt *each) { return each->finished; }),
              batch.end());
}

/// The result of one walk.
struct Outcome {
  Draft draft;
  /// Set if slots were placed.
  std::optional<Solution> solution;
  /// Its arena, or its live bytes if no slots were placed.
  std::optional<int64_t> bytes;
  double score = 0;
  int64_t foundMs = 0;

  bool isWithin(int64_t budgetBytes) const {
    return bytes && *bytes <= budgetBytes;
  }
  bool isNear(int64_t budgetBytes, double share) const {
    return bytes && static_cast<double>(*bytes) <=
                        share * static_cast<double>(budgetBytes);
  }
};

/// A plan that needs more of the budget is too far away to be changed kernel by
/// kernel.
constexpr double nearBudget = 1.03;

/// Shares of time refer to the time of walks: this is the time limit.
constexpr double shareOfLimit = 1.4;

/// Share of time after which a plan is changed no more.
constexpr double shareOfChanges = 1.3;

/// Share of time after which walks end without a plan. The rest of the limit
/// belongs to the search for the smallest plan.
constexpr double shareWithoutPlan = 0.9 * shareOfLimit;

/// Most gain in score by merging kernels and saving time, roughly.
constexpr double gainOfRefitting = 1.1;

/// The parts of the search by their names: reports name the one that made a
/// plan, and `SolverOptions::without` turns them off. Single settings of walks
/// and ways of descents have names with numbers: walk-1, descent-1.
namespace part {
inline constexpr const char *listSchedule = "list-schedule";
inline constexpr const char *listLadder = "list-ladder";
inline constexpr const char *listPrices = "list-prices";
inline constexpr const char *unlimited = "unlimited";
inline constexpr const char *asWritten = "as-written";
inline constexpr const char *walk = "walk";
inline constexpr const char *walkAgain = "walk-again";
inline constexpr const char *walkSpare = "walk-spare";
inline constexpr const char *walkRefit = "walk-refit";
inline constexpr const char *descent = "descent";
inline constexpr const char *randomDescent = "random-descent";
inline constexpr const char *chain = "chain";
inline constexpr const char *annealing = "annealing";
inline constexpr const char *greedyRemat = "greedy-remat";
inline constexpr const char *eviction = "eviction";
inline constexpr const char *keep = "keep";
inline constexpr const char *reduceTime = "reduce-time";
inline constexpr const char *exchange = "exchange";
inline constexpr const char *lowerBudgets = "lower-budgets";
inline constexpr const char *tighten = "tighten";
inline constexpr const char *shrink = "shrink";
inline constexpr const char *pebble = "pebble";
inline constexpr const char *keepSmallest = "keep-smallest";
/// Not to be turned off: nothing else holds regions to their budgets.
inline constexpr const char *regions = "regions";
inline constexpr const char *all[] = {
    listSchedule, listLadder,  listPrices, unlimited, asWritten,     walk,
    walkAgain,    walkSpare,   walkRefit,  descent,   randomDescent, chain,
    annealing,    greedyRemat, eviction,   keep,      reduceTime,    exchange,
    lowerBudgets, tighten,     shrink,     pebble,    keepSmallest};
} // namespace part

/// From the plan without a limit down, before random ones.
constexpr size_t numberOfDescents = 8;

class BudgetSearch {
public:
  BudgetSearch(const Problem &problem, int64_t budgetBytes,
               const SolverOptions &options, const Solution *unlimited,
               LeastCosts least = {})
      : problem(problem), budget(budgetBytes), options(options), least(least),
        clock(options),
        graph(problem, options.fusion), walks{{graph, options, loose},
                                              {graph, options, loose}},
        unlimited(unlimited ? *unlimited : solveUnlimited(problem, options)),
        objective(graph, this->unlimited.verdict.timeNs) {}
  BudgetResult run();

private:
  /// Marks that a part runs, if it may: plans entered meanwhile are its plans.
  class Running {
  public:
    Running(BudgetSearch &search, const char *name)
        : search(search), outer(search.running),
          isAllowed(search.options.allows(name)) {
      if (isAllowed)
        search.running = name;
    }
    ~Running() { search.running = outer; }
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    explicit operator bool() const { return isAllowed; }

  private:
    BudgetSearch &search;
    const char *outer;
    bool isAllowed;
  };

  void tryFirstPlan();
  void enterFirst(std::optional<Solution> solution);
  bool tryUnlimited();
  void tryAsWritten();
  struct Descent;
  Plan descended(const Descent &descent, double mostNs,
                 Deadline deadline) const;
  bool mayDescend() const {
    return options.fusion && !unlimitedPlan.kernels.empty();
  }
  void descend();
  bool descendBoth(const Descent &first, const Descent &second, double share);
  bool descendAtRandom(double share);
  void descendFurther(double share, bool exchanging);
  void spareRepeats();
  void walkAgain();
  void varyFirstPlan();
  double enterBoth(const std::array<Plan *, 2> &plans);
  bool tryInPairs(std::vector<Attempt> attempts);
  void keepRepeated(double share = 1);
  void moveKernels();
  void rematKernels();
  void evictValues();
  void polish();
  void searchBelow();
  void tighten();
  void refit();
  bool isDeep() const;
  void tryChains();
  void tryChain(const ChainOptions &chainOptions);
  std::optional<int64_t> enterChainPlan(Plan plan);
  void anneal();
  bool enterPlan(Plan plan);
  bool enterAsItIs(Plan plan);
  void exchange(Draft draft);
  void exchangeOthers();
  void runFirstAttempts();
  void runRounds();
  void runRound();
  void runAttempts(const std::vector<Attempt *> &batch);
  void walkOrDescend();
  bool areWalksBehind() const {
    return result.best && bestWalkScore > gainOfRefitting * bestScore;
  }
  void startAttempts();
  /// The share of the time that is over.
  double shareOver() const { return shareOfLimit * clock.share(); }
  bool isHopeless();
  void findSmallest();
  void takeSmallest();
  Outcome judge(Draft draft) const;
  void place(Outcome &outcome) const;
  void fit(Outcome &outcome) const;
  bool enter(Outcome &outcome);
  bool isBestPossible(const Verdict &verdict) const {
    return verdict.timeNs <= least.timeNs &&
           verdict.extraFlops <= least.extraFlops;
  }
  void keepOther(const Draft &draft);
  void keepIfSmallest(const Solution &solution);
  void lowerLeast(const Draft &draft);
  MemoryOptions fitOptions(int64_t budgetBytes) const;
  WalkLimits limits(double slack = 1) const;
  double scoreOf(const Verdict &verdict) const { return objective.of(verdict); }
  /// Whether \p share of the time is over, or all of it. Without a limit it
  /// never is.
  bool isOver(double share = 1) {
    if (isProven)
      return true;
    bool over = clock.isOver(std::min(share, shareOfLimit) / shareOfLimit);
    result.stoppedByClock |= over;
    return over;
  }
  /// When \p share of the time is over, or all of it.
  Deadline deadline(double share) const {
    if (isProven)
      return Deadline::past(clock);
    return clock.at(std::min(share, shareOfLimit) / shareOfLimit);
  }
  /// Rounds leave time for later parts, but the best settings shall have their
  /// turn. They go on while there is no plan.
  bool roundsAreOver() {
    constexpr size_t fewest = 6;
    bool few = attempts.size() > fewest && attempts[fewest - 1].runs == 0;
    return isOver(!result.best ? shareWithoutPlan : few ? 0.7 : 0.4);
  }

  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  /// Least costs of plans for the budget.
  const LeastCosts least;
  /// The best plan is the best possible one: all that follows ends at once.
  bool isProven = false;
  /// It is part of another search (LowerBudgets.cpp).
  bool isPart = false;
  /// The part that runs now; see `part`.
  const char *running = "";
  Clock clock;
  RematGraph graph;
  LooseWalks loose;
  CutWalk walks[2];
  BudgetResult result;
  std::vector<Attempt> attempts;
  /// Bytes of the largest kernel, once asked for.
  std::optional<int64_t> largestKernelBytes;
  /// The plan that recomputes nothing.
  Solution unlimited;
  const PlanScore objective;
  /// Its live bytes and its plan without slots.
  int64_t unlimitedBytes = 0;
  Plan unlimitedPlan;
  /// The least time without remats.
  double leastNs = std::numeric_limits<double>::max();
  double bestScore = std::numeric_limits<double>::max();
  /// Number of random descents so far.
  uint64_t descents = 0;
  /// Share of the time when walks end, if there is a plan.
  double walksUntil = 1;
  /// How far walks may be behind the best plan.
  double mostSlack = gainOfRefitting;
  /// The best score of a walk, and its setting and cap.
  double bestWalkScore = std::numeric_limits<double>::max();
  Setting bestSetting = walkSettings[0];
  double bestCap = 0;
  /// The best plans within the budget but the best one, the best first, with as
  /// many different extra FLOPs.
  std::vector<Draft> others;
  /// The best plan of a walk that needs a little more than the budget.
  Plan nearMiss;
  double nearMissScore = std::numeric_limits<double>::max();
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PORTFOLIO_BUDGETSEARCH_H
