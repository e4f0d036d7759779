//===- TimeBound.h - The least time of a step in any plan -------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_TIMEBOUND_H
#define CKPT_LIB_PLAN_TIMEBOUND_H

#include "Graph.h"
#include "KernelFloor.h"

#include <functional>

namespace ckpt::plan {

/// A value that every plan writes to memory, itself or as views of it.
struct Written {
  ValueId value;
  /// The fewest bytes that serve everybody who needs it in memory.
  int64_t bytes;
  /// The fewest that a kernel with an anchor writes of it.
  int64_t epilogueBytes, epilogueElements;
  /// Ops that read it, or a view of it, from memory.
  std::vector<OpId> readers;
  /// Anchors whose first kernels can write it.
  std::vector<OpId> writers;
  /// The ops between the first of `writers` and it, in its first kernel.
  std::vector<OpId> epilogue;
  /// Anchors whose kernels can write it when they run again.
  std::vector<OpId> repeaters;
  /// Whether `repeaters` is complete.
  bool knowsRepeaters;
  /// No two values with this are first written by one kernel, but for the first
  /// kernels of anchors.
  bool apart;
  /// What a kernel that is no first kernel of an anchor takes for it at least.
  int64_t elsewhereNs;
};

/// Adds up what the kernels of any plan take at least: one for each anchor,
/// and those that write what no first kernel of an anchor writes. Memory plays
/// no part here: a plan that runs anchors again pays for that on top.
class TimeBound {
public:
  explicit TimeBound(const Graph &graph);
  /// What running an anchor again after the ops of \p hasRun adds to `totalNs`
  /// at least, per op, in nanoseconds.
  std::vector<int64_t> repeatNs(const std::function<bool(OpId)> &hasRun) const;
  /// The least time of any kernel with an anchor, per op.
  const std::vector<int64_t> &kernelNs() const { return kernel; }
  /// No plan is faster.
  int64_t totalNs() const { return total; }

private:
  bool isOneToOne(OpId op, ValueId value) const;
  void findWritten();
  void findDependents(OpId anchor);
  void follow(std::vector<ValueId> &forms, bool mayBeFar, size_t most);
  void findWriters();
  void findEpilogue(Written &item);
  void findRepeaters(Written &item);
  void chooseApart();
  void addElsewhere();
  bool neverTogether(const Written &left, const Written &right) const;
  void addKernels();
  int64_t cheapest(OpId anchor, const std::vector<const Written *> &mine);
  int64_t epiloguePs(const std::vector<const Written *> &items) const;

  const Graph &graph;
  const Problem &problem;
  KernelFloor floor;
  std::vector<Written> written;
  std::vector<int32_t> writtenIndex;   // per value, or `none`
  std::vector<char> seenThroughViews;  // per value
  std::vector<int64_t> smallestOutput; // per anchor, of its first kernel
  std::vector<int64_t> smallestAgain;  // per anchor, of any kernel
  std::vector<char> depends, far;      // per op
  std::vector<char> isReached;         // per value, all zero between calls
  std::vector<int64_t> kernel;         // per op
  /// Per anchor: what its first kernel saves if others write all of `writers`.
  std::vector<int64_t> savedBehind;
  int64_t total = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_TIMEBOUND_H
