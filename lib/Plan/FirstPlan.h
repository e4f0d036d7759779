//===- FirstPlan.h - Plans in time near-linear in the ops -------*- C++ -*-===//
//
// The walk (Rolling.h) solves a cut after every kernel, which is too slow for
// 100,000 ops. Here one cut at the tightest moment settles what is kept across
// it, and a schedule makes the rest just in time.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_FIRSTPLAN_H
#define CKPT_LIB_PLAN_FIRSTPLAN_H

#include "MomentCut.h"
#include "Search.h"

namespace ckpt::plan {

/// A plan with a live peak of at most \p budgetBytes (`INT64_MAX`: without a
/// limit, recomputing no anchor); not usable if none was found. No slots.
/// Deterministic; looks at no clock.
Draft firstPlan(const Graph &graph, int64_t budgetBytes,
                const SolverOptions &options, const CostWeights &weights = {});

/// The same with slots: a plan whose arena is at most \p budgetBytes.
std::optional<Solution> placedFirstPlan(const Graph &graph, int64_t budgetBytes,
                                        const SolverOptions &options);

/// Whether walks are left out. A walk takes a snapshot of the ops per root.
inline bool isTooLargeToWalk(const Graph &graph) {
  constexpr size_t mostRoots = 6000;
  return graph.roots.size() > mostRoots;
}

/// Whether walks are left out where no clock ends them.
inline bool isTooLargeToFinish(const Graph &graph) {
  constexpr size_t mostWork = 5'000'000;
  return graph.roots.size() * graph.problem.ops.size() > mostWork;
}

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_FIRSTPLAN_H
