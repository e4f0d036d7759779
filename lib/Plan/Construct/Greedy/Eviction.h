//===- Eviction.h - Dynamic tensor rematerialization ------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_GREEDY_EVICTION_H
#define CKPT_LIB_PLAN_CONSTRUCT_GREEDY_EVICTION_H

#include "Plan/Model/KernelGraph.h"

namespace ckpt::plan {

/// Shares of a budget, in percent, that strategies aim at which see neither the
/// inside of kernels nor the gaps between slots.
inline constexpr int approachPercents[] = {100, 98, 95, 90, 85, 80, 70, 60, 50};

/// Runs the kernels in order. If \p budgetBytes are full, evicts the value with
/// the least cost of its neighbourhood per byte and age, and makes it again
/// when it is read (Kirisame et al., ICLR 2021). Empty if the remats run away
/// or find no room.
std::vector<KernelRun> evictGreedily(const KernelGraph &graph,
                                     int64_t budgetBytes);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_GREEDY_EVICTION_H
