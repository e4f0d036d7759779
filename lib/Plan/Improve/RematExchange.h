//===- RematExchange.h - Exchanges a remat for cheaper ones -----*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_REMATEXCHANGE_H
#define CKPT_LIB_PLAN_IMPROVE_REMATEXCHANGE_H

#include "Plan/Improve/ReduceMemory.h"

#include <functional>

namespace ckpt::plan {

/// Asks of each kernel of \p plan that makes a value or runs an anchor again,
/// the costliest first, whether the plan can do without: `reduceMemory` has to
/// make room at less cost by other remats or moves. The plan must be legal,
/// without slots and within the budget; `mostNs` of \p options is its cost. A
/// better plan is taken if \p mayTake says so. If not, because its slots leave
/// gaps, the next ones have to need a little less. Stops when no exchange is
/// better, after a number of tries that depends on the size of the plan, or at
/// the deadline.
void exchangeRemats(const Problem &problem, Plan plan, MemoryOptions options,
                    const std::function<bool(const Plan &)> &mayTake);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_REMATEXCHANGE_H
