//===- XlaGreedy.cpp - XLA's greedy rematerialization ---------------------===//
//
// After `kAlwaysRemat` of XLA's HloRematerialization
// (xla/hlo/transforms/simplifiers/hlo_rematerialization.cc): walks along the
// schedule; while the live bytes at an instruction exceed the limit, moves the
// block of instructions behind it that frees most. Costs play no part there
// either. Instructions are the kernels of the unlimited plan.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Greedy/XlaRemat.h"
#include "Plan/Published/Baseline.h"

using namespace ckpt::plan;

void ckpt::plan::addXlaGreedy(BaselineRun &run) {
  KernelGraph graph(run.problem, run.unlimited.plan);
  for (int64_t limit : run.targets)
    for (size_t mostInBlock : {1, 8})
      run.addPlan("limit " + formatBytes(limit) + ", block " +
                      std::to_string(mostInBlock),
                  graph.emit(rematLikeXla(graph, limit, {mostInBlock, false})));
}
