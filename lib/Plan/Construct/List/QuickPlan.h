//===- QuickPlan.h - Plans in time near-linear in the ops -------*- C++ -*-===//
//
// The walk (CutScheduler.h) solves a cut after every kernel, which is too slow
// for 100,000 ops. Here one cut at the tightest moment chooses the values kept
// across it, and a schedule makes all others just in time.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_LIST_QUICKPLAN_H
#define CKPT_LIB_PLAN_CONSTRUCT_LIST_QUICKPLAN_H

#include "Plan/Construct/KeepCut/CutCosts.h"
#include "Plan/Packing/AssignOffsets.h"
#include "ckpt/Plan/SolverOptions.h"

#include <optional>

namespace ckpt::plan {

/// A plan with a live peak of at most \p budgetBytes (`INT64_MAX`: without a
/// limit, recomputing no anchor); not usable if none was found. No slots.
/// Deterministic; looks at no clock.
Draft quickPlan(const RematGraph &graph, int64_t budgetBytes,
                const SolverOptions &options, const CostWeights &weights = {});

/// The same with slots: a plan whose arena is at most \p budgetBytes.
std::optional<Solution> placedQuickPlan(const RematGraph &graph,
                                        int64_t budgetBytes,
                                        const SolverOptions &options);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_LIST_QUICKPLAN_H
