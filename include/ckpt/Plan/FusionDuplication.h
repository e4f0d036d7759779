//===- FusionDuplication.h - Limits repeated work in kernels ----*- C++ -*-===//

#ifndef CKPT_PLAN_FUSIONDUPLICATION_H
#define CKPT_PLAN_FUSIONDUPLICATION_H

#include "ckpt/Plan/Problem.h"

namespace ckpt::plan {

/// Demands memory for reads at other elements than their reader's that one
/// kernel would make more than 32 times as often as there are any: lookups
/// inside lookups, slices of joins. Otherwise emitted work would grow
/// exponentially along a chain of them.
void limitFusionDuplication(Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_FUSIONDUPLICATION_H
