//===- ProductChain.h - The chain that revolve was made for -----*- C++ -*-===//

#ifndef CKPT_TEST_UNIT_PLAN_PRODUCTCHAIN_H
#define CKPT_TEST_UNIT_PLAN_PRODUCTCHAIN_H

#include "ProblemBuilder.h"

namespace ckpt::plan {

/// Products there and back, of which each backward one reads the input of its
/// forward one. Each product is one FLOP.
inline Problem productChain(int32_t stages) {
  ProblemBuilder builder;
  std::vector<ValueId> inputs = {builder.argument(matrix)};
  for (int32_t i = 0; i < stages; ++i)
    inputs.push_back(builder.contraction({memory(inputs[i])}, matrix));
  ValueId gradient = inputs[stages];
  size_t firstBackward = builder.problem.ops.size();
  for (int32_t i = stages; i-- > 0;)
    gradient =
        builder.contraction({memory(gradient), memory(inputs[i])}, matrix);
  builder.result(gradient);
  for (size_t op = 0; op < builder.problem.ops.size(); ++op) {
    builder.problem.ops[op].flops = 1;
    builder.problem.ops[op].backward = op >= firstBackward;
  }
  return builder.problem;
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_PRODUCTCHAIN_H
