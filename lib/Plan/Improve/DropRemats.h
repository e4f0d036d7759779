//===- DropRemats.h - Drops needless remats, one by one ---------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_DROPREMATS_H
#define CKPT_LIB_PLAN_IMPROVE_DROPREMATS_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Plan.h"

namespace ckpt::plan {

/// Drops outputs of kernels of \p plan, a legal one without slots, that stood
/// in memory before, if the live peak stays within \p budgetBytes. The output
/// with most time goes first, and in large plans only that one. One simulation
/// for each kernel, none after \p deadline. Returns whether there was any.
bool dropRemats(const Problem &problem, Plan &plan, int64_t budgetBytes,
                Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_DROPREMATS_H
