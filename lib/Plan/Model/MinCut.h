//===- MinCut.h - Minimum cuts in integer networks --------------*- C++ -*-===//
//
// The planner solves one cut per kernel that it emits, so buffers are kept
// between calls. Capacities may rise after a run, which then continues from its
// flow (prices of memory only rise while a plan is made to fit).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_MINCUT_H
#define CKPT_LIB_PLAN_MODEL_MINCUT_H

#include <cstdint>
#include <vector>

namespace ckpt::plan {

/// Push-relabel from the sink to the source (Goldberg and Tarjan, 1988), with
/// gaps and exact distances from time to time (Cherkassky and Goldberg, 1997).
/// A chain of 100,000 ops has paths of every length, so algorithms that look
/// for shortest paths take quadratic time.
class MinCut {
public:
  /// A capacity that no cut may pay. Finite capacities must sum to less.
  static constexpr int64_t infinite = int64_t{1} << 60;

  /// Forgets all arcs; nodes are 0 .. \p numNodes - 1.
  void reset(int32_t numNodes);
  /// Adds an arc and returns its number.
  int32_t addArc(int32_t from, int32_t to, int64_t capacity);
  /// Raises the capacity of \p arc by \p amount, keeping the flow.
  void raise(int32_t arc, int64_t amount);
  /// Sets the capacity of \p arc, of which nothing must flow.
  void setCapacity(int32_t arc, int64_t capacity) {
    arcs[arc].capacity = capacity;
  }
  /// Takes all flow back.
  void forgetFlow();
  /// The value of the cheapest cut since `reset`; `infinite` if every cut pays
  /// an infinite arc.
  int64_t run(int32_t source, int32_t sink);
  /// Whether \p node is on the source side of the cut of the last run; the
  /// source side is the smallest of all minimum cuts.
  bool onSourceSide(int32_t node) const {
    return distance[node] < static_cast<int32_t>(first.size());
  }
  /// Makes what the last run pulled from the sink a flow: nothing stays inside.
  void returnDeficits(int32_t source, int32_t sink);
  /// The flow on \p arc, after `returnDeficits`.
  int64_t flowOn(int32_t arc) const { return arcs[arc ^ 1].capacity; }

  class State;
  void save(State &state) const;
  void restore(const State &state);

private:
  /// Deficits of several infinite arcs.
  __extension__ typedef __int128 Wide;

  struct Arc {
    int32_t to;
    int32_t next;
    int64_t capacity;
  };

  /// Nodes at one distance from the source.
  struct Layer {
    int32_t node = -1;
    int32_t active = -1;
  };

  void pull(int32_t arc, int64_t amount);
  void measure(int32_t source, int32_t sink);
  void enter(int32_t node);
  void leave(int32_t node);
  void discharge(int32_t node, int32_t source);
  void relabel(int32_t node);
  void cutOff(int32_t from);

  std::vector<Arc> arcs;
  std::vector<int32_t> first;
  /// Per node: the flow that it sends on and has not received yet.
  std::vector<Wide> deficit;
  /// Per node: a lower bound on its arcs to the source, the number of nodes if
  /// no path is left.
  std::vector<int32_t> distance;
  std::vector<Layer> layers;
  /// Per node: its neighbours in its layer.
  std::vector<int32_t> next, previous, nextActive;
  std::vector<int32_t> cursor;
  std::vector<int32_t> queue;
  /// The last layers with an active node and with any.
  int32_t highestActive = -1, farthest = 0;
  /// Arcs that the run has looked at, and those for new distances.
  int64_t scanned = 0, relabelled = 0;
};

/// Capacities and what is pulled at one time.
class MinCut::State {
  friend class MinCut;
  std::vector<Arc> arcs;
  std::vector<Wide> deficit;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_MINCUT_H
