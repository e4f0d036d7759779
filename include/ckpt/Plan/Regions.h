//===- Regions.h - Budgets of parts of a problem ----------------*- C++ -*-===//
//
// The bytes that a region takes, and the problem as one region sees it. The
// simulator measures with these functions; searches and bounds see through
// `regionView`.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_REGIONS_H
#define CKPT_PLAN_REGIONS_H

#include "ckpt/Plan/Validate.h"

namespace ckpt::plan {

/// By value: whether its bytes count for \p region, as it lies in the arena and
/// an op of the region's layers makes it.
std::vector<char> membersOf(const Problem &problem, const Region &region);

/// \p problem without its regions, as solvers see it that know none.
Problem withoutRegions(const Problem &problem);

/// \p problem, without regions, in which only values of \p region take memory.
/// It has the plans of \p problem, and the live peak of each is at most the
/// bytes of the region. Results of opaque ops with several results have no
/// bytes, as an unwritten one would be scratch memory. Times are the same.
Problem regionView(const Problem &problem, const Region &region);

/// Sets `Verdict::regionPeakBytes` from the instances of \p verdict; says which
/// region takes more than its budget and in which kernel, or nothing.
std::string measureRegions(const Problem &problem, Verdict &verdict);

} // namespace ckpt::plan

#endif // CKPT_PLAN_REGIONS_H
