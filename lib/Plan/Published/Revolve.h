//===- Revolve.h - Binomial schedules of uniform chains ---------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_PUBLISHED_REVOLVE_H
#define CKPT_LIB_PLAN_PUBLISHED_REVOLVE_H

#include "Plan/Construct/Chain/ChainSchedule.h"

namespace ckpt::plan {

/// The schedule that reverses a chain of \p stages equal stages with the fewest
/// forward steps, if at most \p slots inputs of stages are kept besides that of
/// the whole chain.
std::vector<ChainStep> revolveSteps(int32_t stages, int32_t slots);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PUBLISHED_REVOLVE_H
