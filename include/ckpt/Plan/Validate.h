//===- Validate.h - The simulator that judges every plan --------*- C++ -*-===//
//
// Plays a plan kernel by kernel, slow and obvious. It asks Kernel.h for the
// rules of kernels and shares no other code with solvers and packer. Runs after
// every solve, in tests and in production.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_VALIDATE_H
#define CKPT_PLAN_VALIDATE_H

#include "ckpt/Plan/Kernel.h"

namespace ckpt::plan {

/// From where to where one written value stands in memory, in kernel numbers,
/// both inclusive.
struct Instance {
  ValueId value = none;
  int32_t kernel = 0;
  int32_t output = 0;
  int32_t lastRead = 0;
  /// Instance whose place it takes over (it dies in `kernel`), or `none`.
  int32_t takesOver = none;
  /// A kernel before wrote the same value.
  bool recomputed = false;
  /// The result in whose buffer the plan puts it instead of the arena, or
  /// `none`.
  ValueId host = none;
};

/// Whether \p instance has a slot of the arena.
inline bool isInArena(const Problem &problem, const Instance &instance) {
  return instance.host == none &&
         problem.values[instance.value].home == Home::Arena;
}

/// The simulator's findings. All figures are valid only if `error` is empty.
struct Verdict {
  /// Empty, or the first broken rule with kernel and value, one sentence.
  std::string error;
  std::vector<Instance> instances;
  /// Largest sum of the slots of live instances and workspace; an instance that
  /// takes over a place counts once with it. The kernel where it is reached.
  int64_t livePeakBytes = 0;
  int32_t peakKernel = none;
  /// The same of each region of the problem, without workspace. A place that
  /// one value of the region takes over from another counts once.
  std::vector<int64_t> regionPeakBytes;
  int64_t timeNs = 0;
  int64_t bytesMoved = 0;
  /// FLOPs of anchors that ran more than once, beyond the first time.
  int64_t extraFlops = 0;
};

/// Checks the rules of a plan: every kernel is legal and finds its reads, every
/// result is written, ops that may not repeat run once, effects keep their
/// order, and the plan obeys `Value::keep` and the budgets of regions. With \p
/// slots also: places are aligned, end within `Plan::arenaBytes`, and overlap
/// only where one value takes over another's place.
Verdict validate(const Problem &problem, const Plan &plan, bool slots);
/// The same with the kernels already analysed, which must belong to \p problem.
Verdict validate(const Problem &problem, const Plan &plan, bool slots,
                 KernelCache &kernels);

/// A plan with slots and the simulator's verdict on it.
struct Solution {
  Plan plan;
  Verdict verdict;
  /// The sub-solver of the portfolio that made it; empty for other solvers.
  std::string subSolver = {};
};

/// The program as written: one kernel per op in program order, nothing fused,
/// views free. Places are unaligned and unpacked; results do not count. An op
/// overwrites a destination that dies, and a fusible op a pointwise input of
/// equal size that dies (docs/Rationale/MemoryModel.md).
struct AsWritten {
  int64_t peakBytes = 0;
  int64_t bytesMoved = 0;
  int64_t flops = 0;
};
AsWritten asWritten(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_VALIDATE_H
