//===- PebblePlan.cpp - Plans of least memory -----------------------------===//
//
// Results lie in the caller's buffers. If each of them can be made from nothing
// within some bytes, all can, one after the other, and no plan does with less
// than the result that needs most. Such a plan is correct but slow. Nothing
// stands in memory between two results, so that each part has places of its
// own. The search for the minimum budget calls it for steps of up to 3,000 ops.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Pebble/PebblePlan.h"

#include "Plan/Model/PlanEdit.h"
#include "Plan/Packing/AssignOffsets.h"

#include <algorithm>

using namespace ckpt::plan;

PebblePlan::PebblePlan(const RematGraph &graph) : graph(graph), ways(graph) {
  for (const Op &op : graph.problem.ops)
    for (ValueId value : op.results)
      if (graph.problem.values[value].home == Home::Result)
        goals.push_back(value);
}

Plan PebblePlan::within(int64_t limitBytes, Deadline deadline) {
  constexpr size_t mostKernels = 50000;
  for (size_t op = 0; op < graph.problem.ops.size(); ++op)
    if (graph.live[op] && graph.once[op])
      return Plan();
  Plan plan;
  for (size_t i = 0; i < goals.size(); ++i)
    if (!ways.make(goals[i], limitBytes, deadline, plan.kernels) ||
        plan.kernels.size() > mostKernels) {
      std::rotate(goals.begin(), goals.begin() + i, goals.begin() + i + 1);
      return Plan();
    }
  return plan;
}

/// Results are made one by one, so that an op with several of them may run once
/// for each: only its last run counts. Limits go down from the smallest known
/// plan by a quarter of its distance to the needs of single kernels. Findings
/// at one limit serve at the next, so that large steps down fail more often.
std::optional<Solution> ckpt::plan::solvePebble(const RematGraph &graph,
                                                int64_t leastBytes,
                                                int64_t enoughBytes,
                                                int64_t knownBytes,
                                                Deadline deadline) {
  constexpr size_t mostOps = 3000;
  constexpr int64_t share = 256;
  const Problem &problem = graph.problem;
  if (problem.ops.size() > mostOps || deadline.isOver())
    return std::nullopt;
  std::optional<Solution> best;
  PebblePlan smallest(graph);
  int64_t low = leastBytes, high = knownBytes;
  auto isDone = [&] {
    return high <= enoughBytes ||
           high - low <= std::max(high / share, slotAlignment - 1);
  };
  // If walks are good, a plan just below theirs is not found.
  for (int64_t limit = high - high / 32; !isDone() && !deadline.isOver();
       limit = high - (high - low) / 4) {
    Draft draft;
    draft.plan = smallest.within(limit, deadline);
    removeDeadOutputs(problem, draft.plan);
    draft.verdict = validate(problem, draft.plan, /*slots=*/false);
    Solution solution = assignOffsets(problem, draft, limit);
    if (!draft.usable() || !solution.verdict.error.empty() ||
        solution.plan.arenaBytes >= high) {
      low = limit;
      continue;
    }
    high = solution.plan.arenaBytes;
    best = std::move(solution);
  }
  return best;
}
