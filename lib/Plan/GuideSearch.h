//===- GuideSearch.h - What to keep at tight moments ------------*- C++ -*-===//
//
// A cut at a tight moment says what to keep there (MomentCut.h), and a schedule
// what becomes of that (JustInTime.h). Where it still exceeds the budget, there
// are two ways to go on, and steps on which only one of them leads far.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_GUIDESEARCH_H
#define CKPT_LIB_PLAN_GUIDESEARCH_H

#include "JustInTime.h"

#include <limits>

namespace ckpt::plan {

/// A limit that is none, with room for sums.
constexpr int64_t unlimitedBytes = std::numeric_limits<int64_t>::max() / 4;

/// Searches guides for schedules within a budget. For one thread at a time.
class GuideSearch {
public:
  using Schedule = JustInTime::Schedule;

  enum class Relief {
    /// One guide, at the tightest moment of all. What also stands in memory at
    /// the exceeded moment counts more there.
    Weights,
    /// The exceeded moment gets a guide of its own. U-Nets are tight where all
    /// that waits for the way up stands in memory, too.
    Guides,
  };

  /// \p order is that of the roots.
  GuideSearch(const Graph &graph, const std::vector<OpId> &order,
              const CostWeights &weights, Relief relief)
      : graph(graph), relief(relief), kernels(graph.problem),
        jit(graph, order, weights, kernels), cut(graph, weights) {}

  /// Runs without a limit and a guide.
  Schedule runFree() { return jit.run({}); }

  /// Starts with one guide at the tightest moment of \p free, which comes from
  /// `runFree`. Whether better ones are to be expected.
  bool start(const Schedule &free, int64_t budgetBytes);
  /// Goes on where \p other, which has just started, is now.
  void follow(const GuideSearch &other) { state = other.state; }
  /// Once more with other guides; whether it might pay off to go on.
  bool doRound();
  /// Whether the best schedule costs hardly more than one from which nothing is
  /// dropped, so that no guides are much better.
  bool isSettled() const { return state.isSettled; }

  /// Schedules the best guides within a lower budget, or a little less where
  /// that costs less: which values are evicted depends on every byte. Several
  /// guides are chosen again if that is not enough. Whether it costs about the
  /// same.
  bool tighten(int64_t budgetBytes);

  /// Time of the best schedule, roughly; a limit that is none if there is none.
  int64_t cost() const { return state.best.cost; }
  bool found() const { return cost() < unlimitedBytes; }
  /// The best schedule, which is gone then, and one with the same guides.
  Schedule takeBest() { return std::move(state.best.within); }
  Schedule runBest(int64_t capBytes) {
    return jit.runWithin(state.best.guides, state.best.known, capBytes);
  }

private:
  struct Attempt {
    JustInTime::Guides guides;
    /// Without a limit otherwise.
    Schedule known;
    Schedule within;
    int64_t cost = unlimitedBytes;
  };
  /// A moment with a guide, and how much that may keep.
  struct Moment {
    size_t at;
    int64_t room;
  };
  struct State {
    int64_t budget = 0;
    int rounds = 0, inVain = 0;
    bool isSettled = false;
    /// In the order in which they come, and the one that was changed last.
    std::vector<Moment> moments;
    size_t changed = 0;
    /// Per value: how much its bytes count.
    std::vector<double> weight;
    JustInTime::Guides guides;
    /// Whether they are those of the round before.
    bool isSame = false;
    Schedule known;
    /// Of the last schedules without a limit: what the last one and the one
    /// before take, and where.
    int64_t peakBytes = 0, formerBytes = 0;
    size_t peakAt = 0, formerAt = 0;
    Attempt best;
  };

  int64_t costOf(const Schedule &schedule) const;
  bool chooseGuides();
  bool tryGuides();
  void relieve();

  const Graph &graph;
  const Relief relief;
  KernelCache kernels;
  JustInTime jit;
  MomentCut cut;
  State state;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_GUIDESEARCH_H
