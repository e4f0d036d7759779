//===- SmallestPlan.cpp - Plans for which only memory counts --------------===//
//
// Results lie in the caller's buffers. So if each of them can be made from
// nothing within some bytes, so can all, one after the other, and no plan does
// with less than the one that needs most. What is made that way is correct but
// slow. Nothing stands in memory between two results, so that each part has
// places of its own.
//
//===----------------------------------------------------------------------===//

#include "SmallestPlan.h"

#include <algorithm>

using namespace ckpt::plan;

SmallestPlan::SmallestPlan(const Graph &graph) : graph(graph), ways(graph) {
  for (const Op &op : graph.problem.ops)
    for (ValueId value : op.results)
      if (graph.problem.values[value].home == Home::Result)
        goals.push_back(value);
}

Plan SmallestPlan::within(int64_t limitBytes) {
  constexpr size_t mostKernels = 50000;
  for (size_t op = 0; op < graph.problem.ops.size(); ++op)
    if (graph.live[op] && graph.once[op])
      return Plan();
  Plan plan;
  for (size_t i = 0; i < goals.size(); ++i)
    if (!ways.make(goals[i], limitBytes, plan.kernels) ||
        plan.kernels.size() > mostKernels) {
      std::rotate(goals.begin(), goals.begin() + i, goals.begin() + i + 1);
      return Plan();
    }
  return plan;
}
