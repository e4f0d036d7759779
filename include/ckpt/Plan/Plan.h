//===- Plan.h - A schedule of kernels with their places ---------*- C++ -*-===//
//
// Solvers return plans and the rewrite follows them: the kernels in order, the
// ops inside each, its outputs, and their places.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_PLAN_H
#define CKPT_PLAN_PLAN_H

#include "ckpt/Plan/Problem.h"

namespace ckpt::plan {

/// One kernel. It computes a read of an op in `ops` inside if the producer is
/// in `ops` too. Otherwise the value stands in memory: the latest instance that
/// an earlier kernel wrote, or the caller's.
struct Kernel {
  /// All ops computed inside, views included, in program order.
  std::vector<OpId> ops;
  /// The values that it writes to memory, each made by an op of `ops`.
  std::vector<ValueId> outputs;
  /// Offset of each output in the arena or in the buffer of its host; -1 for a
  /// value that the problem puts in a caller's buffer. Empty until slots are
  /// placed.
  std::vector<int64_t> offsets;
  /// Arena offset of the workspace (the sum over `ops`); -1 if there is none.
  int64_t workspaceOffset = -1;
  /// Per output the result in whose buffer the plan puts it, or `none`. Empty:
  /// there is no such output.
  std::vector<ValueId> hosts = {};

  ValueId hostOf(size_t output) const {
    return hosts.empty() ? none : hosts[output];
  }
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
