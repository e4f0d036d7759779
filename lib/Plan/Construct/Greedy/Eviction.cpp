//===- Eviction.cpp - Dynamic tensor rematerialization, simulated ---------===//
//
// After Kirisame et al., "Dynamic Tensor Rematerialization" (ICLR 2021), with
// the heuristic h_DTR and eager eviction. The program runs kernel by kernel; if
// memory is full, the simulation evicts the value with the least
//
//   cost of its evicted neighbourhood / (bytes * staleness)
//
// and makes evicted values again when they are read, recursively. It knows no
// future but, as in the paper, when the program drops a value. The portfolio
// and the published strategy `dtr` call it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Greedy/Eviction.h"

#include "Plan/Model/Work.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

class DtrSimulation {
public:
  DtrSimulation(const KernelGraph &graph, int64_t budgetBytes)
      : graph(graph), budget(budgetBytes),
        inMemory(graph.problem.values.size(), 0),
        wasMade(graph.problem.values.size(), 0),
        pins(graph.problem.values.size(), 0),
        pending(graph.problem.values.size(), 0),
        lastUseNs(graph.problem.values.size(), 0) {
    for (const KernelNode &node : graph.nodes)
      for (ValueId value : node.reads)
        ++pending[value];
  }

  /// Empty if it runs away or memory cannot be found.
  std::vector<KernelRun> run();

private:
  bool make(int32_t node, const std::vector<ValueId> &outputs);
  bool findRoom(int64_t bytes);
  ValueId chooseVictim();
  int64_t neighbourhoodNs(ValueId value);
  void visitEvicted(int32_t node, bool towardsInputs, int64_t &sumNs);
  void drop(ValueId value) {
    inMemory[value] = 0;
    liveBytes -= graph.slot(value);
  }

  const KernelGraph &graph;
  const int64_t budget;
  int64_t liveBytes = 0;
  int64_t clockNs = 1;
  std::vector<char> inMemory, wasMade;
  /// By value: executions at work that read it; nodes that still read it as
  /// the program has it.
  std::vector<int32_t> pins, pending;
  std::vector<int64_t> lastUseNs;
  std::vector<int32_t> stamp; // per node, of `neighbourhoodNs`
  int32_t currentStamp = 0;
  std::vector<KernelRun> runs;
};

} // namespace

/// Adds the evicted nodes that \p node depends on, or that depend on it.
void DtrSimulation::visitEvicted(int32_t node, bool towardsInputs,
                                 int64_t &sumNs) {
  auto visit = [&](int32_t next, ValueId value) {
    if (inMemory[value] || !wasMade[value] || stamp[next] == currentStamp)
      return;
    stamp[next] = currentStamp;
    sumNs += graph.nodes[next].timeNs;
    visitEvicted(next, towardsInputs, sumNs);
  };
  if (towardsInputs) {
    for (ValueId value : graph.nodes[node].reads)
      visit(graph.maker[value], value);
    return;
  }
  for (ValueId output : graph.nodes[node].kernel.outputs)
    for (int32_t reader : graph.readers[output])
      for (ValueId value : graph.nodes[reader].kernel.outputs)
        visit(reader, value);
}

int64_t DtrSimulation::neighbourhoodNs(ValueId value) {
  ++currentStamp;
  int32_t maker = graph.maker[value];
  stamp[maker] = currentStamp;
  int64_t sumNs = graph.nodes[maker].timeNs;
  visitEvicted(maker, /*towardsInputs=*/true, sumNs);
  visitEvicted(maker, /*towardsInputs=*/false, sumNs);
  return sumNs;
}

ValueId DtrSimulation::chooseVictim() {
  Work::spend(10 * static_cast<int64_t>(graph.problem.values.size()));
  ValueId victim = none;
  double least = 0;
  for (ValueId value = 0;
       value < static_cast<ValueId>(graph.problem.values.size()); ++value) {
    if (!inMemory[value] || pins[value] || !graph.mayDrop(value))
      continue;
    double h = static_cast<double>(neighbourhoodNs(value)) /
               (static_cast<double>(graph.slot(value)) *
                static_cast<double>(clockNs - lastUseNs[value] + 1));
    if (victim == none || h < least) {
      victim = value;
      least = h;
    }
  }
  return victim;
}

bool DtrSimulation::findRoom(int64_t bytes) {
  while (liveBytes + bytes > budget) {
    ValueId victim = chooseVictim();
    if (victim == none)
      return false;
    drop(victim);
  }
  return true;
}

/// Runs \p node for \p outputs, with all that it needs.
bool DtrSimulation::make(int32_t node, const std::vector<ValueId> &outputs) {
  const KernelNode &n = graph.nodes[node];
  if (runs.size() > 8 * graph.nodes.size())
    return false;
  for (ValueId value : n.reads)
    ++pins[value];
  for (ValueId value : n.reads)
    if (!inMemory[value] && !make(graph.maker[value], {value}))
      return false;
  int64_t bytes = n.workspaceBytes;
  for (ValueId value : outputs)
    bytes += graph.slot(value);
  if (!findRoom(bytes))
    return false;
  runs.push_back({node, outputs});
  clockNs += n.timeNs;
  for (ValueId value : outputs) {
    inMemory[value] = wasMade[value] = 1;
    liveBytes += graph.slot(value);
    lastUseNs[value] = clockNs;
  }
  for (ValueId value : n.reads) {
    --pins[value];
    lastUseNs[value] = clockNs;
  }
  return true;
}

std::vector<KernelRun> DtrSimulation::run() {
  stamp.assign(graph.nodes.size(), 0);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const KernelNode &node = graph.nodes[i];
    if (!make(static_cast<int32_t>(i), node.kernel.outputs))
      return {};
    for (ValueId value : node.reads)
      if (--pending[value] == 0 && inMemory[value] && graph.mayDrop(value))
        drop(value);
  }
  return std::move(runs);
}

std::vector<KernelRun> ckpt::plan::evictGreedily(const KernelGraph &graph,
                                                 int64_t budgetBytes) {
  return DtrSimulation(graph, budgetBytes).run();
}
