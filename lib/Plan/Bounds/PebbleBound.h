//===- PebbleBound.h - What any way back to nothing takes -------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_BOUNDS_PEBBLEBOUND_H
#define CKPT_LIB_PLAN_BOUNDS_PEBBLEBOUND_H

#include "Plan/Bounds/PebblePredecessors.h"

#include <functional>
#include <optional>
#include <queue>

namespace ckpt::plan {

/// Bytes that every plan needs at some moment while what an anchor reads is
/// made, by a search.
class PebbleBound {
public:
  /// \p knownBytes is what every plan is known to need.
  PebbleBound(const RematGraph &graph, int64_t knownBytes);

  /// What every plan needs by the time when the anchor \p target runs; \p
  /// known, which never falls, if that is not shown to be more with the effort
  /// that is made.
  int64_t raise(OpId target, int64_t known);

private:
  /// What stands in memory, and the state that a kernel leads to.
  struct State {
    ValueSet standing;
    int32_t next;
  };
  int64_t rate(const ValueSet &standing) const;
  bool isCovered(const ValueSet &standing, int32_t self) const;
  bool isMakeable(const ValueSet &standing) const;
  void enter(const ValueSet &after, const ValueSet &made, OpId anchor,
             int32_t next);
  void goBack(int32_t from, OpId anchor);
  std::optional<bool> isMade(OpId target, int &mostStates);

  const RematGraph &graph;
  PebblePredecessors needs;
  /// What kernels may take, and the least that some kernel took beyond that.
  int64_t limit = 0, beyondLimit = 0;
  std::vector<State> states;
  /// Rating and number; the least comes first.
  using Entry = std::pair<int64_t, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  /// States by their first value.
  std::vector<std::vector<int32_t>> byFirst;
  /// What is made from nothing within the limit.
  std::vector<ValueSet> makeable;
  /// Per op: a set of anchors, as `words` words of bits.
  std::vector<uint64_t> ancestors;
  size_t words = 0;
};

/// What every plan of a small step needs, and the anchor that shows it: that of
/// which `raise` last said more than was known, or `none`.
struct Searched {
  OpId anchor = none;
  int64_t bytes = 0;
};
Searched searchBackward(const RematGraph &graph, int64_t knownBytes);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_PEBBLEBOUND_H
