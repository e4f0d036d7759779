//===- ChainDP.cpp - Deep budgets on chains of blocks ---------------------===//
//
// Cuts the kernels of the unlimited plan into stages, fills the table, and
// turns its points into plans. Searches call it for deep budgets and for the
// minimum budget; the table looks at no clock.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Chain/ChainDP.h"

#include "Plan/Improve/MergeMove.h"
#include "Plan/Model/PlanEdit.h"
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
    isSource[k] = readsNothing && mayRepeat(problem, plan.kernels[k]);
    for (ValueId value : plan.kernels[k].outputs) {
      isSource[k] &= problem.values[value].home == Home::Arena;
      waiting[value] = static_cast<int32_t>(k);
    }
    if (!isSource[k])
      result.kernels.push_back(plan.kernels[k]);
  }
  return result;
}

ChainDP::ChainDP(const Problem &problem, const Plan &start,
                 const ChainOptions &options)
    : graph(problem, delaySources(problem, start)),
      chain(chainOf(graph, options)),
      table(measureChain(chain), options.mostBytes, options.mostPoints,
            options.deadline) {}

int32_t ChainDP::within(int64_t bytes) const {
  auto number = static_cast<int32_t>(points().size());
  while (number-- > 0)
    if (points()[number].bytes <= bytes)
      return number;
  return none;
}

Plan ChainDP::plan(size_t point) const {
  return graph.emit(followSteps(chain, table.steps(point)));
}

void ChainDP::tryWithin(
    int64_t bytes,
    const std::function<std::optional<int64_t>(Plan)> &bytesOf) const {
  constexpr int mostTries = 6;
  int64_t cap = bytes;
  if (points().empty())
    return;
  for (int i = 0; i < mostTries; ++i) {
    int32_t point = std::max(within(cap), 0);
    std::optional<int64_t> needed = bytesOf(plan(point));
    if (!needed || *needed <= bytes || point == 0)
      return;
    cap = std::min(cap - (*needed - bytes), points()[point].bytes - 1);
  }
}

std::optional<Solution> ckpt::plan::placedChainPlan(const Problem &problem,
                                                    const Plan &start,
                                                    int64_t budgetBytes,
                                                    Deadline deadline) {
  ChainOptions options;
  options.mostBytes = budgetBytes;
  options.deadline = deadline;
  std::optional<Solution> fitting;
  auto place = [&](Plan plan) -> std::optional<int64_t> {
    Draft draft;
    draft.verdict = mergeKernels(problem, plan, budgetBytes);
    if (!draft.verdict.error.empty())
      return std::nullopt;
    draft.plan = std::move(plan);
    if (draft.verdict.livePeakBytes > budgetBytes)
      return draft.verdict.livePeakBytes;
    Solution solution = assignOffsets(problem, std::move(draft), budgetBytes,
                                      PackEffort::Orders);
    int64_t bytes = solution.plan.arenaBytes;
    if (solution.verdict.error.empty() && bytes <= budgetBytes)
      fitting = std::move(solution);
    return bytes;
  };
  ChainDP(problem, start, options).tryWithin(budgetBytes, place);
  return fitting;
}
