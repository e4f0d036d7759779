//===- Stages.h - The forward pass as a chain of stages ---------*- C++ -*-===//
//
// Strategies for chains see a training step as stages 0, 1, ... whose backward
// parts follow in the opposite order. Stages are the layers of the problem;
// without layers, every anchor begins one.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PUBLISHED_STAGES_H
#define CKPT_LIB_PLAN_PUBLISHED_STAGES_H

#include "ckpt/Plan/Problem.h"

namespace ckpt::plan {

struct Stages {
  explicit Stages(const Problem &problem);

  int32_t count = 0;
  /// By op, rising in program order; `none` for ops of the backward pass.
  std::vector<int32_t> ofOp;
  /// By stage: bytes of its values that the backward pass reads.
  std::vector<int64_t> keptBytes;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PUBLISHED_STAGES_H
