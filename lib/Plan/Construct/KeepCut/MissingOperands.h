//===- MissingOperands.h - Values to make before a root runs ----*- C++ -*-===//
//
// A root needs its operands in memory. The cut scheduler asks for the operands
// that are missing, and for theirs, in the order in which to make them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_MISSINGOPERANDS_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_MISSINGOPERANDS_H

#include "Plan/Construct/KeepCut/WalkState.h"

namespace ckpt::plan {

class MissingOperands {
public:
  explicit MissingOperands(const WalkState &state)
      : state(state), graph(state.graph), ways(graph.problem.ops.size()),
        hasWay(graph.problem.ops.size()), visited(graph.problem.ops.size()),
        added(graph.problem.values.size()) {}

  /// The values to make before \p root can run, operands before the values that
  /// need them.
  std::vector<ValueId> of(OpId root);
  /// The first of \p missing that the kernel of \p root itself reads, or
  /// `none`.
  ValueId firstRead(OpId root, const std::vector<ValueId> &missing) const;
  /// \p value, which a root reads, comes first from now on; `none` ends that.
  void begin(ValueId value) { begun = value; }

private:
  /// The most bytes that stand while the missing operands of an op are made,
  /// roughly, and the bytes of the operands.
  struct Way {
    int64_t peakBytes = 0, operandBytes = 0;
  };

  const Way &wayTo(OpId op);
  int64_t besides(const Leaf &leaf);
  void add(OpId op, std::vector<ValueId> &missing);

  const WalkState &state;
  const RematGraph &graph;
  ValueId begun = none;
  std::vector<Way> ways; // per op
  Marks hasWay, visited; // ops
  Marks added;           // values
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_MISSINGOPERANDS_H
