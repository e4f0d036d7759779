//===- ReduceTime.h - Values shared or joined after the fact ----*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_REDUCETIME_H
#define CKPT_LIB_PLAN_IMPROVE_REDUCETIME_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// Saves time in a finished list of kernels, without slots, while the peak
/// stays within \p allowedBytes or does not rise. Writes a value once that
/// several kernels compute inside, inlines a value that is read little, and
/// moves a kernel with an anchor to the elementwise kernel that alone reads its
/// result. Looks at a limited number of places, and at none after \p deadline.
/// Returns whether it changed the plan.
bool reduceTime(const Problem &problem, Plan &plan, int64_t allowedBytes,
                Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_REDUCETIME_H
