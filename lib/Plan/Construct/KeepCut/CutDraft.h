//===- CutDraft.h - One run of the cut scheduler, improved ------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTDRAFT_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTDRAFT_H

#include "Plan/Construct/KeepCut/CutScheduler.h"
#include "Plan/Packing/AssignOffsets.h"
#include "ckpt/Plan/SolverOptions.h"

namespace ckpt::plan {

/// Walks once and improves the result within \p allowedBytes. Not usable if the
/// walk gave up.
Draft makeDraft(CutScheduler &scheduler, const RematGraph &graph,
                const CutOptions &cutOptions, const SolverOptions &options,
                int64_t allowedBytes);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTDRAFT_H
