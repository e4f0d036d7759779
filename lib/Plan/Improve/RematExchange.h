//===- RematExchange.h - Something cheaper made again -----------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_REMATEXCHANGE_H
#define CKPT_LIB_PLAN_IMPROVE_REMATEXCHANGE_H

#include "Plan/Improve/ReduceMemory.h"

#include <functional>

namespace ckpt::plan {

/// Asks of each kernel of \p plan that makes something again or runs an anchor
/// again, the costliest first, whether the rest can do without: making other
/// things again or moving kernels has to make room at less cost
/// (`reduceMemory`). The plan must be legal, without slots and within the
/// budget; `mostNs` of
/// \p options is what it costs. A better plan is taken if \p mayTake says so;
/// if not, because its slots leave gaps, the next ones have to need a little
/// less. Stops when nothing is better, after a number of tries that hangs on
/// the size of the plan, or at the deadline.
void exchangeRemats(const Problem &problem, Plan plan, MemoryOptions options,
                    const std::function<bool(const Plan &)> &mayTake);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_REMATEXCHANGE_H
