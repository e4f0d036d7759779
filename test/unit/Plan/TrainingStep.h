//===- TrainingStep.h - A small training step by hand -----------*- C++ -*-===//
//
// Residual blocks of two products with an activation between, a loss, and the
// way back with updates of the weights: enough for everything that the solvers
// decide.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TEST_UNIT_PLAN_TRAININGSTEP_H
#define CKPT_TEST_UNIT_PLAN_TRAININGSTEP_H

#include "ProblemBuilder.h"

namespace ckpt::plan {

struct TrainingStep : ProblemBuilder {
  struct Block {
    ValueId input, hidden, active, output, first, second;
  };
  std::vector<Block> blocks;

  explicit TrainingStep(int32_t count) {
    problem.launchNs = 10;
    ValueId value = argument(matrix);
    for (int32_t i = 0; i < count; ++i)
      value = forward(value);
    ValueId loss = reduction({any(value)}, scalar);
    result(loss);
    size_t firstBackward = problem.ops.size();
    ValueId gradient = fusible({point(value), any(loss)}, matrix);
    for (size_t i = blocks.size(); i-- > 0;)
      gradient = backward(blocks[i], gradient);
    result(gradient);
    for (size_t op = 0; op < problem.ops.size(); ++op) {
      Op &o = problem.ops[op];
      o.backward = op >= firstBackward;
      o.flops = o.kind == OpKind::Contraction ? 65536 : 1024;
      o.computePs = o.flops * 1000;
    }
  }

private:
  ValueId forward(ValueId input) {
    Block block;
    block.input = input;
    block.first = argument(matrix);
    block.second = argument(matrix);
    block.hidden = contraction({memory(input), memory(block.first)}, matrix);
    block.active = fusible({point(block.hidden)}, matrix);
    ValueId product =
        contraction({memory(block.active), memory(block.second)}, matrix);
    block.output = fusible({point(product), point(input)}, matrix);
    blocks.push_back(block);
    return block.output;
  }

  void update(ValueId weight, ValueId left, ValueId right) {
    ValueId gradient = contraction({memory(left), memory(right)}, matrix);
    result(fusible({point(weight), point(gradient)}, matrix));
  }

  ValueId backward(const Block &block, ValueId gradient) {
    update(block.second, block.active, gradient);
    ValueId active =
        contraction({memory(gradient), memory(block.second)}, matrix);
    ValueId hidden = fusible({point(active), point(block.hidden)}, matrix);
    update(block.first, block.input, hidden);
    ValueId input = contraction({memory(hidden), memory(block.first)}, matrix);
    return fusible({point(input), point(gradient)}, matrix);
  }
};

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_TRAININGSTEP_H
