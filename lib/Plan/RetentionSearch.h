//===- RetentionSearch.h - Local search with fixed kernels ------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_RETENTIONSEARCH_H
#define CKPT_LIB_PLAN_RETENTIONSEARCH_H

#include "Search.h"

namespace ckpt::plan {

/// Improves what `start`, a plan that runs every kernel once, recomputes so
/// that it fits \p budgetBytes: calls \p enter with plans that fit, each faster
/// than those before.
void searchRetention(const Problem &problem, const Plan &start,
                     int64_t budgetBytes,
                     const std::vector<Plan> &seeds,
                     std::chrono::steady_clock::time_point deadline,
                     const std::function<void(Plan)> &enter);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_RETENTIONSEARCH_H
