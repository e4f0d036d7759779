//===- CutDraft.cpp - One run of the cut scheduler, improved --------------===//
//
// One walk of the scheduler, then dead outputs removed and kernels merged.
// Portfolios call it for each walk.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutDraft.h"

#include "Plan/Improve/MergeMove.h"
#include "Plan/Model/PlanEdit.h"

using namespace ckpt::plan;

Draft ckpt::plan::makeDraft(CutScheduler &scheduler, const RematGraph &graph,
                            const CutOptions &cutOptions,
                            const SolverOptions &options,
                            int64_t allowedBytes) {
  Draft draft;
  CutSchedule result = scheduler.run(cutOptions);
  if (!result.complete) {
    draft.verdict.error = "the search gave up after " +
                          std::to_string(result.plan.kernels.size()) +
                          " kernels, before everything had run";
    return draft;
  }
  draft.plan = std::move(result.plan);
  if (options.fusion) {
    draft.verdict = mergeKernels(graph.problem, draft.plan, allowedBytes);
  } else {
    removeDeadOutputs(graph.problem, draft.plan);
    draft.verdict = validate(graph.problem, draft.plan, false);
  }
  if (!draft.verdict.error.empty())
    draft.plan = Plan();
  return draft;
}
