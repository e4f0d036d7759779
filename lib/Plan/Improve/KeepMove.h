//===- KeepMove.h - Fewer remats where there is room ------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H
#define CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H

#include "ckpt/Plan/Kernel.h"

namespace ckpt::plan {

/// Removes kernels of \p plan that remake values which fit in memory within a
/// live peak of \p limitBytes, and kernels that serve them alone. Every kernel
/// may be left out.
void keepValues(const Problem &problem, Plan &plan, int64_t limitBytes);
/// The same with the kernels already analysed, which must belong to \p problem.
void keepValues(const Problem &problem, Plan &plan, int64_t limitBytes,
                KernelCache &kernels);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H
