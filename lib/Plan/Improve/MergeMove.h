//===- MergeMove.h - Elementwise kernels inside earlier ones ----*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_MERGEMOVE_H
#define CKPT_LIB_PLAN_IMPROVE_MERGEMOVE_H

#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// Removes dead outputs, and computes elementwise kernels inside earlier ones
/// (as epilogues, or as more outputs) while that saves time and the peak stays
/// within \p limitBytes or does not rise. Returns the verdict (without slots)
/// of the result.
Verdict mergeKernels(const Problem &problem, Plan &plan, int64_t limitBytes);
/// The same with the kernels already analysed, which must belong to \p problem.
Verdict mergeKernels(const Problem &problem, Plan &plan, int64_t limitBytes,
                     KernelCache &kernels);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_MERGEMOVE_H
