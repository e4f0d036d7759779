//===- BlockChain.cpp - Deep budgets on chains of blocks ------------------===//

#include "BlockChain.h"
#include "ChainFigures.h"

using namespace ckpt::plan;

/// The table takes time in the cube of the stages.
static constexpr int32_t mostStages = 96;

static KernelChain chainOf(const KernelGraph &graph) {
  KernelStages stages(graph, mostStages);
  return KernelChain(graph, stages.ofOp, std::max(stages.count, 1));
}

BlockChain::BlockChain(const Problem &problem, const Plan &start)
    : graph(problem, start), chain(chainOf(graph)),
      table(measureChain(chain)) {}

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
