//===- ReduceTime.h - Values shared or joined after the fact ----*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_REDUCETIME_H
#define CKPT_LIB_PLAN_IMPROVE_REDUCETIME_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// Saves time in a finished list of kernels, without slots, where the peak
/// stays within \p allowedBytes or does not rise: what several kernels compute
/// inside is written once, what is read little is computed inside, and a kernel
/// with an anchor is moved to the elementwise kernel that alone reads what it
/// makes. Looks at a limited number of places, and at no more after
/// \p deadline. Returns whether anything changed.
bool reduceTime(const Problem &problem, Plan &plan, int64_t allowedBytes,
                Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_REDUCETIME_H
