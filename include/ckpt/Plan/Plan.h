//===- Plan.h - A schedule of kernels with their places ---------*- C++ -*-===//
//
// What a solver returns and the rewrite follows: which kernels run, in which
// order, what is computed inside each, what each writes, and where.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_PLAN_H
#define CKPT_PLAN_PLAN_H

#include "ckpt/Plan/Problem.h"

namespace ckpt::plan {

/// One kernel. A read of an op in `ops` is computed inside when its producer is
/// in `ops` too; otherwise the value stands in memory: the latest instance that
/// an earlier kernel wrote, or the caller's.
struct Kernel {
  /// All ops computed inside, views included, in program order.
  std::vector<OpId> ops;
  /// The values that it writes to memory, each made by an op of `ops`.
  std::vector<ValueId> outputs;
  /// Arena offset of each output; -1 for a value in a caller's buffer. Empty
  /// until slots are placed.
  std::vector<int64_t> offsets;
  /// Arena offset of the workspace (the sum over `ops`); -1 if there is none.
  int64_t workspaceOffset = -1;
};

/// Kernels in the order in which they run. A value written by several kernels
/// has several instances; the later ones are recomputations.
struct Plan {
  std::vector<Kernel> kernels;
  /// Bytes of the arena; 0 until slots are placed.
  int64_t arenaBytes = 0;
};

} // namespace ckpt::plan

#endif // CKPT_PLAN_PLAN_H
