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

/// Griewank and Walther: forward steps that reverse \p length steps with so
/// many states, the first among them; the last step of each is not counted.
/// With c states and r repeats such that C(c + r - 1, c) < n <= C(c + r, c),
/// n r - C(c + r, c + 1) steps.
inline int64_t binomialSteps(int64_t length, int64_t states) {
  auto choose = [](int64_t n, int64_t k) {
    double result = 1;
    for (int64_t i = 1; i <= k; ++i)
      result = result * static_cast<double>(n - k + i) / static_cast<double>(i);
    return static_cast<int64_t>(result + 0.5);
  };
  int64_t repeats = 0;
  while (choose(states + repeats, states) < length)
    ++repeats;
  return length * repeats - choose(states + repeats, states + 1);
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_PRODUCTCHAIN_H
