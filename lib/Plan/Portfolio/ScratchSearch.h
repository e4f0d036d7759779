//===- ScratchSearch.h - Plans that use the buffers of results --*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_PORTFOLIO_SCRATCHSEARCH_H
#define CKPT_LIB_PLAN_PORTFOLIO_SCRATCHSEARCH_H

#include "ckpt/Plan/Solvers.h"

namespace ckpt::plan {

/// `solveBudget` for a problem with `scratchInResults`: searches plans of \p
/// budgetBytes and of more, which fit \p budgetBytes once values lie in
/// results.
BudgetResult searchInResults(const Problem &problem, int64_t budgetBytes,
                             const SolverOptions &options,
                             const Solution *unlimited, LeastCosts least);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PORTFOLIO_SCRATCHSEARCH_H
