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

/// Dinic's algorithm.
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
  /// Pushes as much flow as fits and returns the total value since `reset`; at
  /// least `infinite` if every cut pays an infinite arc.
  int64_t run(int32_t source, int32_t sink);
  /// The flow on \p arc.
  int64_t flowOn(int32_t arc) const { return arcs[arc ^ 1].capacity; }
  /// Whether \p node is on the source side of the cut of the last run; the
  /// source side is the smallest of all minimum cuts.
  bool onSourceSide(int32_t node) const { return level[node] >= 0; }

private:
  struct Arc {
    int32_t to;
    int32_t next;
    int64_t capacity;
  };

  bool buildLevels(int32_t source, int32_t sink);
  int64_t augment(int32_t source, int32_t sink);

  std::vector<Arc> arcs;
  std::vector<int32_t> first;
  std::vector<int32_t> level;
  std::vector<int32_t> cursor;
  std::vector<int32_t> queue;
  std::vector<int32_t> path;
  int64_t flow = 0;
  /// Arcs that the run has looked at.
  int64_t scanned = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_MINCUT_H
