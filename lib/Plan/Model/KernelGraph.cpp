//===- KernelGraph.cpp - The kernels of a plan as a graph -----------------===//
//
// Builds the graph of the unlimited plan for Construct/Greedy and Published,
// once per strategy, and turns their answers into plans.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/KernelGraph.h"
#include "Plan/Model/PlanEdit.h"
#include "ckpt/Plan/Kernel.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

/// The part of \p kernel that makes \p outputs.
static Kernel restrict(const Problem &problem, const Kernel &kernel,
                       std::vector<ValueId> outputs) {
  Kernel part;
  part.ops = kernel.ops;
  part.outputs = std::move(outputs);
  trimOps(problem, part);
  return part;
}

KernelGraph::KernelGraph(const Problem &problem, const Plan &plan)
    : problem(problem), maker(problem.values.size(), none),
      readers(problem.values.size()) {
  for (const Kernel &kernel : plan.kernels) {
    std::vector<ValueId> fresh;
    for (ValueId value : kernel.outputs)
      if (maker[value] == none)
        fresh.push_back(value);
    if (fresh.size() == kernel.outputs.size())
      addNode(kernel);
    else if (!fresh.empty())
      addNode(restrict(problem, kernel, fresh));
  }
}

void KernelGraph::addNode(const Kernel &kernel) {
  auto number = static_cast<int32_t>(nodes.size());
  KernelInfo info = analyze(problem, kernel);
  KernelNode node;
  node.kernel.ops = kernel.ops;
  node.kernel.outputs = kernel.outputs;
  node.timeNs = info.timeNs;
  node.workspaceBytes = slotBytes(info.workspaceBytes);
  for (OpId id : kernel.ops) {
    const Op &op = problem.ops[id];
    node.mayRepeat &= op.mayRepeat;
    for (ValueId value : op.results)
      node.mayRepeat &= problem.values[value].keep != Keep::Save;
  }
  node.backward = std::all_of(
      kernel.outputs.begin(), kernel.outputs.end(), [&](ValueId value) {
        return problem.ops[problem.values[value].op].backward;
      });
  for (ValueId value : info.memoryReads) {
    if (problem.values[value].op == none)
      continue;
    node.reads.push_back(value);
    readers[value].push_back(number);
    node.backward |= nodes[maker[value]].backward;
  }
  for (ValueId value : kernel.outputs)
    maker[value] = number;
  nodes.push_back(std::move(node));
}

int64_t KernelGraph::slot(ValueId value) const {
  const Value &v = problem.values[value];
  return v.home == Home::Arena ? slotBytes(v.bytes) : 0;
}

bool KernelGraph::mayDrop(ValueId value) const {
  return slot(value) > 0 && nodes[maker[value]].mayRepeat;
}

Plan KernelGraph::emit(const std::vector<KernelRun> &runs) const {
  Plan plan;
  for (const KernelRun &run : runs) {
    const Kernel &kernel = nodes[run.node].kernel;
    plan.kernels.push_back(run.outputs.size() == kernel.outputs.size()
                               ? kernel
                               : restrict(problem, kernel, run.outputs));
  }
  removeDeadOutputs(problem, plan);
  return plan;
}
