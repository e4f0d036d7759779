//===- PebbleBound.h - Least bytes of any way to an anchor ------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_BOUNDS_PEBBLEBOUND_H
#define CKPT_LIB_PLAN_BOUNDS_PEBBLEBOUND_H

#include "Plan/Bounds/PebblePredecessors.h"

#include <functional>
#include <optional>
#include <queue>

namespace ckpt::plan {

/// Bytes that every plan needs at some moment while the operands of an anchor
/// are made, found by a search.
class PebbleBound {
public:
  /// Every plan is known to need \p knownBytes. Nothing more is proven after
  /// \p deadline.
  PebbleBound(const RematGraph &graph, int64_t knownBytes, Deadline deadline);

  /// Bytes that every plan needs until the anchor \p target runs; \p known,
  /// which never falls, if the effort of this search proves no more.
  int64_t raise(OpId target, int64_t known);

private:
  /// Values in memory, and the state after the next kernel.
  struct State {
    ValueSet standing;
    int32_t next;
  };
  int64_t rate(const ValueSet &standing) const;
  bool isCovered(const ValueSet &standing, int32_t self);
  bool isMakeable(const ValueSet &standing) const;
  void enter(const ValueSet &after, const ValueSet &made, OpId anchor,
             int32_t next);
  void goBack(int32_t from, OpId anchor);
  std::optional<bool> isMade(OpId target, int &mostStates);

  const RematGraph &graph;
  PebblePredecessors needs;
  /// The limit on the bytes of kernels, and the least bytes above it.
  int64_t limit = 0, beyondLimit = 0;
  std::vector<State> states;
  /// Rating and number; the least comes first.
  using Entry = std::pair<int64_t, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  /// States by their first value.
  std::vector<std::vector<int32_t>> byFirst;
  /// Sets that can be made from nothing within the limit.
  std::vector<ValueSet> makeable;
  /// Per op: a set of anchors, as `words` words of bits.
  std::vector<uint64_t> ancestors;
  size_t words = 0;
};

/// Bytes that every plan of a small step needs, and the anchor for which
/// `raise` last proved more than was known, or `none`.
struct Searched {
  OpId anchor = none;
  int64_t bytes = 0;
};
Searched searchBackward(const RematGraph &graph, int64_t knownBytes,
                        Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_PEBBLEBOUND_H
