//===- RegionSearch.h - Plans that keep budgets of regions ------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_PORTFOLIO_REGIONSEARCH_H
#define CKPT_LIB_PLAN_PORTFOLIO_REGIONSEARCH_H

#include "ckpt/Plan/Solvers.h"

namespace ckpt::plan {

/// The search of `solveBudget` for a problem with regions.
BudgetResult searchRegions(const Problem &problem, int64_t budgetBytes,
                           const SolverOptions &options,
                           const Solution *unlimited);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PORTFOLIO_REGIONSEARCH_H
