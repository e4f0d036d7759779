//===- PlanEdit.h - A finished list of kernels, improved --------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_MODEL_PLANEDIT_H
#define CKPT_LIB_PLAN_MODEL_PLANEDIT_H

#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// Keeps of the ops of \p kernel what its outputs and effects need.
void trimOps(const Problem &problem, Kernel &kernel);

/// Removes outputs that nobody reads, and what is computed only for them.
void removeDeadOutputs(const Problem &problem, Plan &plan);

/// Removes dead outputs, and computes elementwise kernels inside earlier ones
/// (as epilogues, or as more outputs) where that saves time and the peak stays
/// within \p allowedBytes or does not rise, until nothing changes; the verdict
/// (without slots) of the result.
Verdict improve(const Problem &problem, Plan &plan, int64_t allowedBytes);
/// The same with what is known of kernels, which must belong to \p problem.
Verdict improve(const Problem &problem, Plan &plan, int64_t allowedBytes,
                KernelCache &kernels);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_PLANEDIT_H
