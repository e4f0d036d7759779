//===- PebblePredecessors.h - Memory before a kernel ------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_BOUNDS_PEBBLEPREDECESSORS_H
#define CKPT_LIB_PLAN_BOUNDS_PEBBLEPREDECESSORS_H

#include "Plan/Bounds/AnchorRelaxation.h"
#include "Plan/Model/Clock.h"

namespace ckpt::plan {

/// Distinct values, ascending.
using ValueSet = std::vector<ValueId>;

/// For a set of values after a kernel: the bytes that the kernel takes at
/// least, and the sets that may have stood before it.
class PebblePredecessors {
public:
  /// Values of at most \p smallBytes are taken to stand for nothing. The effort
  /// is spent at \p deadline, too.
  PebblePredecessors(const RematGraph &graph, int64_t smallBytes,
                     Deadline deadline);

  /// The sets that may have stood before a kernel with \p anchor (or `none`)
  /// that made \p made, a part of \p after: in every plan, all of one of these
  /// did. Sets with which the kernel takes more than \p mostBytes are left out;
  /// \p beyond becomes the least bytes of these, if that is less.
  std::vector<ValueSet> before(const ValueSet &after, const ValueSet &made,
                               OpId anchor, int64_t mostBytes, int64_t &beyond);
  /// Whether the effort is spent: from then on `before` knows nothing.
  bool isSpent() const { return effort <= 0 || deadline.isOver(); }
  /// Takes the comparison of \p count sets off the effort.
  void spendOnSets(int64_t count) {
    constexpr int64_t setsPerUnit = 8;
    compared += count;
    effort -= compared / setsPerUnit;
    compared %= setsPerUnit;
  }

  /// Anchors whose kernels may write it, behind them.
  const std::vector<OpId> &writersOf(ValueId value) const {
    return writers[value];
  }
  /// Whether a kernel with \p anchor may; without one, for `none`.
  bool mayWrite(OpId anchor, ValueId value) const;
  /// Whether it may be written over something.
  bool mayBeOver(ValueId value, OpId anchor) const {
    return !hosts[value].empty() || updatesArena(anchor);
  }
  /// Whether each of \p made may have to be written by the kernel that writes
  /// the others.
  bool areBound(const ValueSet &made, OpId anchor);

private:
  void findSizes(int64_t smallBytes);
  void findNodes();
  void findWriters();
  void findSources();
  void findHosts();
  ValueSet hostsOf(ValueId value) const;
  ValueSet formsOf(ValueId value) const;
  bool isMadeByAnchor(ValueId value) const {
    return isAnchor(problem.ops[problem.values[value].op]);
  }
  bool updatesArena(OpId anchor) const;
  std::vector<ValueSet> readsFor(ValueId value, OpId anchor, int64_t mostBytes,
                                 int64_t &beyond);
  std::vector<ValueSet> readsForAll(const ValueSet &made, OpId anchor,
                                    const ValueSet &inside, int64_t mostBytes,
                                    int64_t &beyond);
  std::vector<ValueSet> expand(const ValueSet &standing, const ValueSet &values,
                               bool viewsOnly, int64_t bytes, int64_t mostBytes,
                               int64_t &beyond);
  int64_t bytesOf(const ValueSet &values) const;
  int64_t writtenBytes(const ValueSet &made, OpId anchor, const ValueSet &stays,
                       const ValueSet &reads) const;

  const RematGraph &graph;
  const Problem &problem;
  const Deadline deadline;
  /// Sets that may still be looked at.
  int64_t effort = 1000000;
  /// Sets that take less than one unit of it together.
  int64_t compared = 0;
  std::vector<int64_t> size;              // per value
  std::vector<char> node;                 // per value
  std::vector<ValueSet> leaves;           // per op
  std::vector<std::vector<OpId>> writers; // per value
  /// Per node: the nodes over which it may be written, by itself or as part of
  /// a value that is no node.
  std::vector<ValueSet> hosts;
  std::vector<ValueSet> sources; // per node
  /// Per node: after a kernel it may stand as part of something that was
  /// written over another value, and so be written over itself.
  std::vector<char> hidden;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_PEBBLEPREDECESSORS_H
