//===- RandomSum.h - Gradients of a weight that is read often ---*- C++ -*-===//
//
// Random problems rarely have sums of several parts, of which more than one
// lies in the buffer of a result.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TEST_UNIT_PLAN_RANDOMSUM_H
#define CKPT_TEST_UNIT_PLAN_RANDOMSUM_H

#include "ProblemBuilder.h"

#include <algorithm>
#include <random>

namespace ckpt::plan {

/// A weight that is read several times, so that its gradient is a sum of
/// several products, in any order and as soon as possible or at the end.
inline Problem randomSum(uint64_t seed) {
  std::mt19937_64 random(seed);
  ProblemBuilder b;
  ValueId weight = b.argument(matrix);
  std::vector<ValueId> values = {weight}, parts;
  ValueId sum = none;
  bool isSoon = random() % 2 == 0;
  for (int i = 0; i < 3; ++i) {
    ValueId from = values[random() % values.size()];
    parts.push_back(b.contraction({memory(from)}, matrix));
    values.push_back(parts.back());
    if (isSoon)
      sum = i == 0 ? parts.back()
                   : b.fusible({point(sum), point(parts.back())}, matrix);
  }
  if (!isSoon) {
    std::shuffle(parts.begin(), parts.end(), random);
    sum = parts[0];
    for (int i = 1; i < 3; ++i)
      sum = b.fusible({point(sum), point(parts[i])}, matrix);
  }
  b.result(b.fusible({point(weight), point(sum)}, matrix));
  b.result(b.reduction({any(values[random() % values.size()])}, row));
  hostInResults(b.problem);
  return b.problem;
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_RANDOMSUM_H
