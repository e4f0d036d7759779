//===- FitBudget.h - Plans that need a little too much ----------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_FITBUDGET_H
#define CKPT_LIB_PLAN_FITBUDGET_H

#include "ckpt/Plan/Plan.h"

namespace ckpt::plan {

/// Moves and repeats single kernels of \p plan, which must be valid without
/// slots, until its largest live sum is at most \p budgetBytes. Contractions
/// are not repeated. Returns whether it got there; the plan stays valid.
bool fitBudget(const Problem &problem, Plan &plan, int64_t budgetBytes);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_FITBUDGET_H
