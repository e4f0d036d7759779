//===- ResultScratch.h - Values in the buffers of later results -*- C++ -*-===//

#ifndef CKPT_PLAN_RESULTSCRATCH_H
#define CKPT_PLAN_RESULTSCRATCH_H

#include "ckpt/Plan/Plan.h"

namespace ckpt::plan {

/// Bytes of the buffers of results in which \p plan puts other values
/// (`Kernel::hosts`).
int64_t scratchBytes(const Problem &problem, const Plan &plan);

/// The results in whose buffers a plan may put other values, ascending: all but
/// those that lie in arguments.
std::vector<ValueId> scratchResults(const Problem &problem);

/// No plan has more `scratchBytes`. With so much more arena no value would have
/// to lie in a result: a `Bound` for \p arenaBytes + `mostScratchBytes` holds
/// for every plan with an arena of \p arenaBytes.
int64_t mostScratchBytes(const Problem &problem);

/// No plan has a smaller arena, wherever its other values lie, if \p boundBytes
/// are `Bound::minimumBytes`, or as much for a region.
int64_t minimumArenaBytes(const Problem &problem, int64_t boundBytes);

} // namespace ckpt::plan

#endif // CKPT_PLAN_RESULTSCRATCH_H
