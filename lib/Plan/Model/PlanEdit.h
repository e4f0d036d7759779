//===- PlanEdit.h - Ops and outputs that serve nothing ----------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_MODEL_PLANEDIT_H
#define CKPT_LIB_PLAN_MODEL_PLANEDIT_H

#include "ckpt/Plan/Plan.h"
#include "ckpt/Plan/Problem.h"

namespace ckpt::plan {

/// Whether all ops of \p kernel may run again, and anywhere: such a kernel has
/// no effects.
bool mayRepeat(const Problem &problem, const Kernel &kernel);

/// Drops the ops of \p kernel that its outputs and effects do not need.
void trimOps(const Problem &problem, Kernel &kernel);

/// Removes outputs without readers, and ops that serve them alone.
void removeDeadOutputs(const Problem &problem, Plan &plan);

/// Keeps the first of several writes of a result, which stays in its buffer.
void writeResultsOnce(const Problem &problem, Plan &plan);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_PLANEDIT_H
