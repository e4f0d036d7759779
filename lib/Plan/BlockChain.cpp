//===- BlockChain.cpp - Deep budgets on chains of blocks ------------------===//

#include "BlockChain.h"
#include "ckpt/Plan/Kernel.h"

#include <algorithm>

using namespace ckpt::plan;

static KernelChain chainOf(const KernelGraph &graph,
                           const ChainOptions &options) {
  KernelStages stages(graph, options.places, options.mostStages);
  return KernelChain(graph, stages.ofOp, std::max(stages.count, 1),
                     options.backward);
}

/// Kernels that read nothing of the arena wait for their first reader.
static Plan delaySources(const Problem &problem, const Plan &plan) {
  std::vector<int32_t> waiting(problem.values.size(), none);
  std::vector<char> isSource(plan.kernels.size(), 0);
  Plan result;
  auto place = [&](size_t k) {
    isSource[k] = 0;
    result.kernels.push_back(plan.kernels[k]);
  };
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    bool readsNothing = true;
    for (ValueId value : analyze(problem, plan.kernels[k]).memoryReads) {
      readsNothing &= problem.values[value].op == none;
      if (waiting[value] != none && isSource[waiting[value]])
        place(waiting[value]);
    }
    isSource[k] = readsNothing;
    for (OpId op : plan.kernels[k].ops)
      isSource[k] &= problem.ops[op].mayRepeat && !problem.ops[op].hasEffects;
    for (ValueId value : plan.kernels[k].outputs) {
      isSource[k] &= problem.values[value].home == Home::Arena;
      waiting[value] = static_cast<int32_t>(k);
    }
    if (!isSource[k])
      result.kernels.push_back(plan.kernels[k]);
  }
  return result;
}

BlockChain::BlockChain(const Problem &problem, const Plan &start,
                       const ChainOptions &options)
    : graph(problem, delaySources(problem, start)),
      chain(chainOf(graph, options)),
      table(measureChain(chain), options.mostBytes, options.mostPoints) {}

int32_t BlockChain::within(int64_t bytes) const {
  auto number = static_cast<int32_t>(points().size());
  while (number-- > 0)
    if (points()[number].bytes <= bytes)
      return number;
  return none;
}

Plan BlockChain::plan(size_t point) const {
  return graph.emit(followSteps(chain, table.steps(point)));
}
