//===- OperandBound.h - Bytes needed while operands are made ----*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_BOUNDS_OPERANDBOUND_H
#define CKPT_LIB_PLAN_BOUNDS_OPERANDBOUND_H

#include "Plan/Bounds/AnchorRelaxation.h"

namespace ckpt::plan {

/// Bytes that every plan needs at some moment while the reads of an op are
/// made.
class OperandBound {
public:
  /// \p moment tells which values are nodes.
  OperandBound(const RematGraph &graph, const AnchorRelaxation &moment);

  /// Bytes that every plan needs until \p target first runs; \p known if no
  /// more are proven.
  int64_t raise(OpId target, int64_t known);

private:
  void demand(ValueId value, std::vector<ValueId> &demanded) const;
  void findBoundary(int64_t cheapBytes);
  int64_t keptBytes(std::vector<ValueId> demanded, OpId anchor);
  int64_t bytesAt(OpId anchor);
  int64_t makeGoal(int64_t limit);

  /// Bytes in memory while the kernel of an anchor runs.
  struct Needs {
    int64_t bytes = 0;
    /// With the reads that it may compute inside.
    int64_t mostBytes = 0;
    std::vector<ValueId> operands, inside;
  };
  Needs needsOf(OpId anchor) const;

  const RematGraph &graph;
  const AnchorRelaxation &moment;
  std::vector<Needs> needs; // per op
  std::vector<char> later;  // per op: an anchor that still runs
  std::vector<ValueId> goal;
  std::vector<OpId> boundary;
  std::vector<int32_t> number;   // per value
  std::vector<int32_t> computed; // per op
  MinCut cut;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_OPERANDBOUND_H
