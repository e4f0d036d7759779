//===- GreedyRemat.h - Plans with remats of whole kernels -------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_GREEDY_GREEDYREMAT_H
#define CKPT_LIB_PLAN_CONSTRUCT_GREEDY_GREEDYREMAT_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Validate.h"

#include <optional>

namespace ckpt::plan {

/// The best plan within \p budgetBytes that moves and repeats kernels of
/// \p start greedily; nothing if none is found before \p deadline. An extra
/// FLOP counts as \p flopNs more nanoseconds.
std::optional<Solution> rematGreedily(const Problem &problem, const Plan &start,
                                      int64_t budgetBytes, double flopNs,
                                      Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_GREEDY_GREEDYREMAT_H
