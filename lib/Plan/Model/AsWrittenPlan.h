//===- AsWrittenPlan.h - The program as it is, as a plan --------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_MODEL_ASWRITTENPLAN_H
#define CKPT_LIB_PLAN_MODEL_ASWRITTENPLAN_H

#include "ckpt/Plan/Plan.h"

namespace ckpt::plan {

/// One kernel per op in program order, without slots.
Plan asWrittenPlan(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_ASWRITTENPLAN_H
