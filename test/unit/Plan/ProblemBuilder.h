//===- ProblemBuilder.h - Problems by hand, for tests -----------*- C++ -*-===//

#ifndef CKPT_TEST_UNIT_PLAN_PROBLEMBUILDER_H
#define CKPT_TEST_UNIT_PLAN_PROBLEMBUILDER_H

#include "ckpt/Plan/Plan.h"

#include <algorithm>

namespace ckpt::plan {

/// Shapes of the tests; elements take four bytes.
enum Shape : int32_t { matrix, transposed, flat, part, row, scalar };

inline int64_t elementsOf(int32_t shape) {
  constexpr int64_t elements[] = {1024, 1024, 1024, 512, 32, 1};
  return elements[shape];
}

inline Read point(ValueId value) { return {value, Access::Pointwise}; }
inline Read aligned(ValueId value) { return {value, Access::Aligned}; }
inline Read any(ValueId value) { return {value, Access::Any}; }
inline Read gather(ValueId value) {
  return {value, Access::Gather, Need::Memory};
}
inline Read memory(ValueId value) { return {value, Access::Any, Need::Memory}; }
inline Read contiguous(ValueId value) {
  return {value, Access::Any, Need::Contiguous};
}
inline Read destination(ValueId value) {
  return {value, Access::Pointwise, Need::Inline, true};
}

/// Adds values and ops in program order; every op makes one value of the shape
/// given last.
class ProblemBuilder {
public:
  ProblemBuilder() { problem.launchNs = 0; }

  ValueId argument(int32_t shape) {
    ValueId value = addValue(none, shape);
    problem.values[value].home = Home::Argument;
    return value;
  }
  ValueId fusible(std::vector<Read> reads, int32_t shape) {
    return addOp(OpKind::Fusible, std::move(reads), shape);
  }
  ValueId view(ValueId source, Access access, int32_t shape) {
    return addOp(OpKind::View, {{source, access}}, shape);
  }
  ValueId contraction(std::vector<Read> reads, int32_t shape) {
    return addOp(OpKind::Contraction, std::move(reads), shape);
  }
  ValueId reduction(std::vector<Read> reads, int32_t shape) {
    return addOp(OpKind::Reduction, std::move(reads), shape);
  }
  ValueId opaque(std::vector<Read> reads, int32_t shape) {
    return addOp(OpKind::Opaque, std::move(reads), shape);
  }
  /// Gives the latest op one more result.
  ValueId addResult(int32_t shape) {
    ValueId value = addValue(problem.ops.size() - 1, shape);
    problem.ops.back().results.push_back(value);
    return value;
  }
  void result(ValueId value) { problem.values[value].home = Home::Result; }
  Op &opOf(ValueId value) { return problem.ops[problem.values[value].op]; }

  /// A kernel of the ops that make \p inside, which writes \p outputs.
  Kernel kernel(const std::vector<ValueId> &inside,
                std::vector<ValueId> outputs) const {
    Kernel kernel;
    for (ValueId value : inside)
      kernel.ops.push_back(problem.values[value].op);
    std::sort(kernel.ops.begin(), kernel.ops.end());
    kernel.outputs = std::move(outputs);
    return kernel;
  }
  Kernel kernel(ValueId value) const { return kernel({value}, {value}); }

  Problem problem;

private:
  ValueId addValue(OpId op, int32_t shape) {
    Value value;
    value.name = "v" + std::to_string(problem.values.size());
    value.op = op;
    value.shape = shape;
    value.elements = elementsOf(shape);
    value.bytes = 4 * value.elements;
    problem.values.push_back(value);
    return problem.values.size() - 1;
  }

  ValueId addOp(OpKind kind, std::vector<Read> reads, int32_t shape) {
    Op op;
    op.name = "op";
    op.kind = kind;
    op.reads = std::move(reads);
    problem.ops.push_back(std::move(op));
    return addResult(shape);
  }
};

/// How many kernels of \p plan make \p value.
inline int64_t runsOf(const Problem &problem, const Plan &plan, ValueId value) {
  int64_t runs = 0;
  for (const Kernel &kernel : plan.kernels)
    runs += std::count(kernel.ops.begin(), kernel.ops.end(),
                       problem.values[value].op);
  return runs;
}

/// One kernel per op, each writing all its results.
inline Plan oneKernelPerOp(const Problem &problem) {
  Plan plan;
  for (OpId op = 0; op < static_cast<OpId>(problem.ops.size()); ++op) {
    Kernel kernel;
    kernel.ops = {op};
    kernel.outputs = problem.ops[op].results;
    plan.kernels.push_back(kernel);
  }
  return plan;
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_PROBLEMBUILDER_H
