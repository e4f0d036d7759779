//===- Donation.h - Results in the buffers of arguments ---------*- C++ -*-===//

#ifndef CKPT_PLAN_DONATION_H
#define CKPT_PLAN_DONATION_H

#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// The results that \p plan writes into the buffers of their donated arguments
/// (`Value::host`): each kernel that reads the argument has run by then, or
/// writes the result over it. A plan need not do so; another result has a
/// buffer of its own.
std::vector<ValueId> donatedResults(const Problem &problem, const Plan &plan);

/// Bytes that they save the caller.
int64_t donatedBytes(const Problem &problem, const Plan &plan);

/// Moves kernels of \p solution so that more results lie in donated arguments:
/// the writer of a result behind the last reader of the argument, or that
/// reader before the writer. No work is added, and the arena stays within \p
/// limitBytes. Returns the solution unchanged if nothing is gained.
Solution moveForDonations(const Problem &problem, Solution solution,
                          int64_t limitBytes);

} // namespace ckpt::plan

#endif // CKPT_PLAN_DONATION_H
