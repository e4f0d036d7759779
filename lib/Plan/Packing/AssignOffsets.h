//===- AssignOffsets.h - From a draft to a plan with slots ------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_PACKING_ASSIGNOFFSETS_H
#define CKPT_LIB_PLAN_PACKING_ASSIGNOFFSETS_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// A plan without slots and its verdict; no kernels if a constructor gave up.
struct Draft {
  Plan plan;
  Verdict verdict;
  bool usable() const { return !plan.kernels.empty(); }
};

/// Places the slots of \p draft and judges the result.
Solution assignOffsets(const Problem &problem, Draft draft, int64_t budgetBytes,
                       PackEffort effort = PackEffort::Search,
                       Deadline deadline = Deadline());
/// The same with the kernels already analysed, which must belong to \p problem.
Solution assignOffsets(const Problem &problem, Draft draft, int64_t budgetBytes,
                       PackEffort effort, KernelCache &kernels,
                       Deadline deadline = Deadline());

/// As a budget of `assignInResults`: as few bytes of the arena as possible.
inline constexpr int64_t fewestBytes = 0;

/// The same, but values lie in the buffers of results as far as the draft needs
/// more than \p budgetBytes.
Solution assignInResults(const Problem &problem, Draft draft,
                         int64_t budgetBytes, Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PACKING_ASSIGNOFFSETS_H
