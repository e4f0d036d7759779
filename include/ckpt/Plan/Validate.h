//===- Validate.h - The simulator that judges every plan --------*- C++ -*-===//
//
// Plays a plan kernel by kernel, slow and obvious, and shares no code with any
// solver or packer. Runs after every solve, in tests and in production.
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
};

/// What the simulator found. All figures are valid only if `error` is empty.
struct Verdict {
  /// Empty, or the first broken rule with kernel and value, one sentence.
  std::string error;
  std::vector<Instance> instances;
  /// Largest sum of the slots of live instances and workspace; an instance that
  /// takes over a place counts once with it. The kernel where it is reached.
  int64_t livePeakBytes = 0;
  int32_t peakKernel = none;
  /// The same of each region of the problem, without workspace; a place that a
  /// value of the region takes over from another of it counts once.
  std::vector<int64_t> regionPeakBytes;
  int64_t timeNs = 0;
  int64_t bytesMoved = 0;
  /// Of anchors that ran more than once, beyond the first time.
  int64_t extraFlops = 0;
};

/// Checks that every kernel is legal, that what it reads is there, that every
/// result is written, that ops that may not repeat run once, that effects keep
/// their order and that `Value::keep` and the budgets of regions are obeyed.
/// With \p slots also that live places never overlap but where one is taken
/// over, that they are aligned, and that they end within `Plan::arenaBytes`.
Verdict validate(const Problem &problem, const Plan &plan, bool slots);
/// The same with what is known of kernels, which must belong to \p problem.
Verdict validate(const Problem &problem, const Plan &plan, bool slots,
                 KernelCache &kernels);

/// A plan with slots and what the simulator says of it.
struct Solution {
  Plan plan;
  Verdict verdict;
};

/// The program as written: one kernel per op in program order, nothing fused;
/// views free; unaligned, unpacked; results not counted; a destination that
/// dies is overwritten, and so is a pointwise input of equal size that dies at
/// a fusible op (../docs/Rationale, memory model).
struct AsWritten {
  int64_t peakBytes = 0;
  int64_t bytesMoved = 0;
  int64_t flops = 0;
};
AsWritten asWritten(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_VALIDATE_H
