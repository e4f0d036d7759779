//===- KeepMove.h - Values kept in place of remats --------------*- C++ -*-===//
//
// A plan that makes everything from nothing repeats most of it, and a schedule
// that runs out of memory drops more than it has to. Guides of the list
// scheduler, descents and greedy plans all end with this move.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H
#define CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Kernel.h"

namespace ckpt::plan {

/// How keepValues tries remats. `Exact` removes each remat and measures the
/// plan, the dearest first, as often as the size of the plan allows. `Quick`,
/// for first plans, counts the inputs of a remat in full until the remat ran.
enum class KeepEffort : uint8_t { Quick, Exact };

/// Removes remats of \p plan, a legal one without slots, if the values can stay
/// in memory from their last use before: the live bytes on the way stay within
/// \p limitBytes or do not rise. Kernels that ran only for these remats go with
/// them. Tries no more after \p deadline. Returns whether any remat went.
bool keepValues(const Problem &problem, Plan &plan, int64_t limitBytes,
                KeepEffort effort, Deadline deadline = Deadline());
/// The same with a cache of kernels, which must belong to \p problem.
bool keepValues(const Problem &problem, Plan &plan, int64_t limitBytes,
                KeepEffort effort, KernelCache &kernels,
                Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_KEEPMOVE_H
