//===- GuideLoop.h - Values to keep at tight moments ------------*- C++ -*-===//
//
// A cut at a tight moment chooses the values to keep there (OrderedKeepCut.h),
// and a schedule shows the consequences (ListScheduler.h). If it still exceeds
// the budget, there are two ways to go on. On some steps, only one of them
// leads far.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_LIST_GUIDELOOP_H
#define CKPT_LIB_PLAN_CONSTRUCT_LIST_GUIDELOOP_H

#include "Plan/Construct/KeepCut/OrderedKeepCut.h"
#include "Plan/Construct/List/ListScheduler.h"

#include <limits>
#include <memory>

namespace ckpt::plan {

/// A limit that is none, with room for sums.
constexpr int64_t unlimitedBytes = std::numeric_limits<int64_t>::max() / 4;

/// Searches guides for schedules within a budget. For one thread at a time.
class GuideLoop {
public:
  using Schedule = ListScheduler::Schedule;

  enum class Relief {
    /// One guide, at the tightest moment of all. Values that also stand in
    /// memory at the exceeded moment count more there.
    Weights,
    /// The exceeded moment gets a guide of its own. U-Nets are tight where all
    /// that waits for the way up stands in memory, too.
    Guides,
  };

  /// \p order is the order of the roots; \p kernels are kernels of the problem
  /// already analysed.
  GuideLoop(const RematGraph &graph, const std::vector<OpId> &order,
            const CostWeights &weights, Relief relief, KernelCache &kernels)
      : graph(graph), relief(relief), kernels(kernels),
        scheduler(graph, order, weights, kernels), cut(graph, weights) {}

  /// Runs without a limit and a guide.
  Schedule runFree() { return scheduler.run({}); }

  /// Schedules \p free, which comes from `runFree`, within the budget: if
  /// memory is short everywhere, the schedule's own evictions are best. Whether
  /// a plan was found.
  void startFree(std::shared_ptr<const Schedule> free, int64_t budgetBytes);
  /// Starts with one guide at the tightest moment of \p free. Whether better
  /// ones are to be expected.
  bool start(std::shared_ptr<const Schedule> free, int64_t budgetBytes);
  /// Goes on with the guide with which \p other has just started.
  void follow(const GuideLoop &other) {
    state = other.state;
    clear(other.budget);
  }
  /// Once more with other guides; whether it might pay off to go on.
  bool doRound();
  /// Whether the best schedule costs hardly more than one from which nothing is
  /// dropped, so that no guides are much better.
  bool isSettled() const { return state.isSettled; }

  /// Schedules the best guides within a lower budget; whether a plan was found.
  bool tighten(int64_t budgetBytes);

  /// Within the budget.
  struct Found {
    Plan plan;
    /// Time, roughly.
    int64_t cost = unlimitedBytes;
    /// Whether it drops more than it has to.
    bool isLoose = false;
  };
  /// A few, the best first.
  const std::vector<Found> &plans() const { return all; }
  /// The best plan that drops more than it has to, whose slots leave fewer
  /// gaps; only for steps with few roots.
  const Found &loosest() const { return loose; }
  /// Cost of the best plan, or `unlimitedBytes`.
  int64_t cost() const {
    return all.empty() ? unlimitedBytes : all.front().cost;
  }
  bool found() const { return !all.empty(); }

private:
  /// The input of one schedule.
  struct Attempt {
    ListScheduler::Guides guides;
    /// Their schedule without a limit.
    std::shared_ptr<const Schedule> known;
    int64_t cost = unlimitedBytes;
  };
  /// A moment with a guide, and how much that may keep.
  struct Moment {
    size_t at;
    int64_t room;
  };
  struct State {
    int rounds = 0, inVain = 0;
    bool isSettled = false;
    /// In the order in which they come, and the one that was changed last.
    std::vector<Moment> moments;
    size_t changed = 0;
    /// Per value: how much its bytes count.
    std::vector<double> weight;
    ListScheduler::Guides guides;
    /// Whether the guides are those of the round before.
    bool isSame = false;
    std::shared_ptr<const Schedule> known;
    /// Peaks of the last schedule without a limit and the one before, and their
    /// places.
    int64_t peakBytes = 0, formerBytes = 0;
    size_t peakAt = 0, formerAt = 0;
  };

  int64_t costOf(const Plan &plan);
  int64_t enter(Plan plan);
  int64_t schedule(Attempt &attempt);
  void tryOut(Attempt attempt);
  bool chooseGuides();
  bool tryGuides();
  void clear(int64_t budgetBytes);
  void relieve();

  const RematGraph &graph;
  const Relief relief;
  KernelCache &kernels;
  ListScheduler scheduler;
  OrderedKeepCut cut;
  int64_t budget = 0;
  State state;
  /// Both the best first; which attempt is best changes with every byte.
  std::vector<Found> all;
  std::vector<Attempt> attempts;
  Found loose;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_LIST_GUIDELOOP_H
