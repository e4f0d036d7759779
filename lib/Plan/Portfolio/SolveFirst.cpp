//===- SolveFirst.cpp - A plan in near-linear time ------------------------===//
//
// The first plan of a search as an answer of its own, for very large steps.
// Tools call it for `--stages`, tests for the list scheduler.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Chain/ChainDP.h"
#include "Plan/Construct/List/QuickPlan.h"
#include "ckpt/Plan/Solvers.h"

using namespace ckpt::plan;

std::optional<Solution> ckpt::plan::solveFirst(const Problem &problem,
                                               int64_t budgetBytes,
                                               const SolverOptions &options) {
  RematGraph graph(problem, options.fusion);
  std::optional<Solution> first = placedQuickPlan(graph, budgetBytes, options);
  if (first || budgetBytes == INT64_MAX)
    return first;
  std::optional<Solution> unlimited =
      placedQuickPlan(graph, INT64_MAX, options);
  if (!unlimited)
    return std::nullopt;
  return placedChainPlan(problem, withoutSlots(std::move(unlimited->plan)),
                         budgetBytes);
}
