//===- RandomSum.h - Gradients that wait in buffers of results --*- C++ -*-===//
//
// Random problems rarely have sums of several parts, of which more than one
// lies in the buffer of a result, or what several results come from there.
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

/// Two gradients, a value that is made of some of what there is, such as their
/// norm, and results that are made of any of these, in any order.
inline Problem randomUpdate(uint64_t seed) {
  std::mt19937_64 random(seed);
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  std::vector<ValueId> values;
  for (int i = 0; i < 2; ++i) {
    ValueId from = i == 0 || random() % 2 ? x : values[0];
    values.push_back(b.contraction({memory(from)}, matrix));
  }
  ValueId norm = b.reduction({any(values[random() % 2]), any(values[1])}, row);
  if (random() % 2)
    values.push_back(b.contraction({memory(norm)}, matrix));
  for (int i = 0; i < 4; ++i) {
    std::vector<Read> reads = {point(values[random() % values.size()])};
    if (random() % 2)
      reads.push_back(point(values[random() % values.size()]));
    if (random() % 2)
      reads.push_back(any(norm));
    ValueId made = b.fusible(reads, matrix);
    if (random() % 4 > 0)
      b.result(made);
    values.push_back(made);
  }
  b.result(values.back());
  hostInResults(b.problem);
  return b.problem;
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_RANDOMSUM_H
