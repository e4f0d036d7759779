//===- KernelLowerBound.h - The least that one kernel reads -----*- C++ -*-===//
//
// A minimum cut per kernel. TimeBound asks for every kernel that it charges.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_BOUNDS_KERNELLOWERBOUND_H
#define CKPT_LIB_PLAN_BOUNDS_KERNELLOWERBOUND_H

#include "Plan/Model/MinCut.h"
#include "Plan/Model/RematGraph.h"

#include <functional>

namespace ckpt::plan {

/// Bytes that a kernel reads at least, whatever is computed inside it, and the
/// times that follow.
class KernelLowerBound {
public:
  explicit KernelLowerBound(const RematGraph &graph);

  /// Bytes read by any kernel that holds \p anchor (or `none`) and writes
  /// \p outputs.
  int64_t readBytes(OpId anchor, const std::vector<ValueId> &outputs) {
    return read(anchor, outputs, nullptr).bytes;
  }
  /// The same where reading a value counts some bytes more than its own.
  using Extra = std::function<int64_t(ValueId)>;
  struct Reads {
    /// Without and with the extra bytes.
    int64_t bytes = 0, raised = 0;
    /// The extra bytes that the proof of `raised` takes.
    std::vector<std::pair<ValueId, int64_t>> used;
  };
  Reads read(OpId anchor, const std::vector<ValueId> &outputs,
             const Extra &extra);
  /// Time of a kernel that moves \p bytes and computes for \p computePs.
  int64_t timeNs(int64_t computePs, int64_t bytes) const;
  /// Time to move \p bytes, rounded down: their addition to some kernel.
  int64_t moveNs(int64_t bytes) const;

private:
  int64_t operandBytes(OpId anchor);
  int64_t buildAndRun(OpId anchor, size_t roots);
  void raise(const Extra &extra, Reads &reads);
  int32_t nodeOf(ValueId value);
  void expand(OpId op);

  const RematGraph &graph;
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
  /// Per place in `values`: the arc with its bytes, or `none`.
  std::vector<int32_t> arcOf;
  /// Views, and the arcs with the values that they show.
  std::vector<std::pair<ValueId, int32_t>> shownArcs;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_KERNELLOWERBOUND_H
