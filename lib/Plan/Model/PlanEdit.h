//===- PlanEdit.h - A finished list of kernels, improved --------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_MODEL_PLANEDIT_H
#define CKPT_LIB_PLAN_MODEL_PLANEDIT_H

#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// Drops the ops of \p kernel that its outputs and effects do not need.
void trimOps(const Problem &problem, Kernel &kernel);

/// Removes outputs without readers, and ops that serve them alone.
void removeDeadOutputs(const Problem &problem, Plan &plan);

/// Removes dead outputs, and computes elementwise kernels inside earlier ones
/// (as epilogues, or as more outputs) while that saves time and the peak stays
/// within \p allowedBytes or does not rise. Returns the verdict (without slots)
/// of the result.
Verdict improve(const Problem &problem, Plan &plan, int64_t allowedBytes);
/// The same with the kernels already analysed, which must belong to \p problem.
Verdict improve(const Problem &problem, Plan &plan, int64_t allowedBytes,
                KernelCache &kernels);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_PLANEDIT_H
