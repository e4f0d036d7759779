//===- AsWrittenPlan.cpp - The program as it is written, as a plan --------===//
//
// One kernel per op in program order, nothing inlined and nothing recomputed.
// `ckpt-runner --verify` compares every other plan with it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/AsWrittenPlan.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {
class AsWrittenPlanner {
public:
  explicit AsWrittenPlanner(const Problem &problem)
      : problem(problem), standsInMemory(problem.values.size(), false) {}

  Plan run() {
    for (size_t value = 0; value < problem.values.size(); ++value) {
      OpId op = problem.values[value].op;
      standsInMemory[value] = op == none ||
                              problem.ops[op].kind != OpKind::View ||
                              problem.values[value].home == Home::Result;
    }
    for (const Op &op : problem.ops)
      for (const Read &read : op.reads)
        if (op.kind == OpKind::Opaque ||
            (op.kind != OpKind::View && read.need == Need::Contiguous))
          materializeBelow(read.value);

    Plan plan;
    for (size_t op = 0; op < problem.ops.size(); ++op)
      if (problem.ops[op].results.empty() ||
          standsInMemory[problem.ops[op].results.front()])
        plan.kernels.push_back(kernelOf(op));
    return plan;
  }

private:
  /// A contiguous read, or one of an opaque op, sees only reshapes and
  /// stretches: the first other view below is copied.
  void materializeBelow(ValueId value) {
    while (!standsInMemory[value]) {
      const Read &read = problem.ops[problem.values[value].op].reads.front();
      if (!isInOnePiece(read))
        standsInMemory[value] = true;
      value = read.value;
    }
  }

  Kernel kernelOf(OpId op) const {
    Kernel kernel;
    kernel.outputs = problem.ops[op].results;
    std::vector<OpId> work = {op};
    while (!work.empty()) {
      OpId inside = work.back();
      work.pop_back();
      if (std::find(kernel.ops.begin(), kernel.ops.end(), inside) !=
          kernel.ops.end())
        continue;
      kernel.ops.push_back(inside);
      for (const Read &read : problem.ops[inside].reads)
        if (!standsInMemory[read.value])
          work.push_back(problem.values[read.value].op);
    }
    std::sort(kernel.ops.begin(), kernel.ops.end());
    return kernel;
  }

  const Problem &problem;
  std::vector<bool> standsInMemory;
};
} // namespace

Plan ckpt::plan::asWrittenPlan(const Problem &problem) {
  return AsWrittenPlanner(problem).run();
}
