//===- LeastLiveBytes.h - The least memory, by all schedules ----*- C++ -*-===//

#ifndef CKPT_TEST_UNIT_PLAN_LEASTLIVEBYTES_H
#define CKPT_TEST_UNIT_PLAN_LEASTLIVEBYTES_H

#include "RandomProblem.h"

#include "ckpt/Plan/Solvers.h"
#include "ckpt/Plan/Validate.h"

#include <gtest/gtest.h>

#include <functional>
#include <iostream>

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

/// Of how many small random problems a bound was compared with the least live
/// peak, and of how many it is that.
struct Comparison {
  int compared = 0, exact = 0;
};

/// Compares what \p boundOf says of the problems of \p seeds seeds with the
/// least live peak, which it must not exceed.
inline void
compareWithLeast(uint64_t seeds,
                 const std::function<int64_t(const Problem &)> &boundOf,
                 Comparison &comparison) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Problem problem = randomProblem(seed, fewOps(seed));
    int64_t least = leastLiveBytes(problem);
    if (least < 0)
      continue;
    int64_t bound = boundOf(problem);
    ASSERT_LE(bound, least) << "seed " << seed;
    ++comparison.compared;
    comparison.exact += bound == least;
  }
  std::cout << comparison.compared << " problems, " << comparison.exact
            << " with an exact bound\n";
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_LEASTLIVEBYTES_H
