//===- LeastLiveBytes.h - The least memory, by all schedules ----*- C++ -*-===//

#ifndef CKPT_TEST_UNIT_PLAN_LEASTLIVEBYTES_H
#define CKPT_TEST_UNIT_PLAN_LEASTLIVEBYTES_H

#include "ckpt/Plan/Solvers.h"
#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// The least live peak of any plan, or -1 if there is none.
inline int64_t leastLiveBytes(const Problem &problem) {
  int64_t least = -1;
  int64_t limit = INT64_MAX / 4;
  while (std::optional<Plan> plan = solveReference(problem, limit)) {
    least = validate(problem, *plan, false).livePeakBytes;
    limit = least - 1;
  }
  return least;
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_LEASTLIVEBYTES_H
