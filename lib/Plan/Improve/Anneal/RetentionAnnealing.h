//===- RetentionAnnealing.h - Local search with fixed kernels ---*- C++ -*-===//
//
// If kernels and the order of their first runs are settled, a plan is the
// choice between kept values and remats. Simulated annealing over that choice
// (Retention.h) starts from minimum cuts (StageKeepCut.h) and meets the optima
// that mixed-integer solvers found for published instances in a day. The
// portfolio calls it for problems without fusible ops: published instances, and
// steps of engines that do not fuse.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTIONANNEALING_H
#define CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTIONANNEALING_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Plan.h"

#include <functional>

namespace ckpt::plan {

struct RetentionOptions {
  int64_t budgetBytes = 0;
  /// Cost of an extra FLOP beyond its time, in nanoseconds.
  double flopNs = 0;
  /// Stop after this many rounds, or then.
  int mostRounds = 64;
  Deadline deadline;
  /// Called with plans whose live peak is within the budget, each faster than
  /// all that were taken before. Returns whether it takes the plan.
  std::function<bool(Plan)> enter;
};

/// Whether the search is for \p problem: every op runs in a kernel of its own,
/// but for views, and none has to run again.
bool hasFixedKernels(const Problem &problem);

/// Searches plans that run the kernels of \p start, which runs every kernel
/// once, first in that order. False if the clock ended it.
bool annealRetention(const Problem &problem, const Plan &start,
                     const RetentionOptions &options);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTIONANNEALING_H
