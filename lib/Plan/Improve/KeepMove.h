//===- KeepMove.h - Fewer repeats where there is room -----------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H
#define CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H

#include "ckpt/Plan/Kernel.h"

namespace ckpt::plan {

/// Removes kernels of \p plan that make again what there is room to keep in a
/// live peak of \p limitBytes, and what is made for them only. Every kernel may
/// be left out.
void keepValues(const Problem &problem, Plan &plan, int64_t limitBytes);
/// The same with what is known of kernels, which must belong to \p problem.
void keepValues(const Problem &problem, Plan &plan, int64_t limitBytes,
                KernelCache &kernels);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H
