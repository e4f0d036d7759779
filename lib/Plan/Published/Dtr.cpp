//===- Dtr.cpp - Dynamic tensor rematerialization -------------------------===//
//
// The strategy `dtr`: evicts kernels of the unlimited plan at each target.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Greedy/Eviction.h"
#include "Plan/Published/Baseline.h"

using namespace ckpt::plan;

void ckpt::plan::addDtr(BaselineRun &run) {
  KernelGraph graph(run.problem, run.unlimited.plan);
  for (int64_t target : run.targets) {
    std::vector<KernelRun> runs = evictGreedily(graph, target);
    std::string setting = "memory " + formatBytes(target);
    if (runs.empty() && !graph.nodes.empty())
      run.curve.refused.push_back(setting + ": out of memory");
    else
      run.addPlan(setting, graph.emit(runs));
  }
}
