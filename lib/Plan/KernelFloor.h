//===- KernelFloor.h - The least that one kernel reads ----------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_KERNELFLOOR_H
#define CKPT_LIB_PLAN_KERNELFLOOR_H

#include "Graph.h"
#include "MinCut.h"

namespace ckpt::plan {

/// Bytes that a kernel reads at least, whatever is computed inside it, and the
/// times that follow.
class KernelFloor {
public:
  explicit KernelFloor(const Graph &graph);

  /// Bytes read by any kernel that holds \p anchor (or `none`) and writes
  /// \p outputs.
  int64_t readBytes(OpId anchor, const std::vector<ValueId> &outputs);
  /// Time of a kernel that moves \p bytes and computes for \p computePs.
  int64_t timeNs(int64_t computePs, int64_t bytes) const;
  /// Time to move \p bytes, rounded down: what they add to some kernel.
  int64_t moveNs(int64_t bytes) const;

private:
  int64_t operandBytes(OpId anchor);
  int32_t nodeOf(ValueId value);
  void expand(OpId op);

  const Graph &graph;
  const Problem &problem;
  MinCut cut;
  /// Values in the network.
  std::vector<ValueId> values;
  /// Per value: its place in `values`, and whether an operand already counts
  /// it.
  std::vector<int32_t> number;
  std::vector<char> counted;
  std::vector<ValueId> operands;
  std::vector<OpId> expanded;
  std::vector<char> isExpanded;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_KERNELFLOOR_H
