//===- Measure.h - The figures of a plan ------------------------*- C++ -*-===//

#ifndef CKPT_REPORT_MEASURE_H
#define CKPT_REPORT_MEASURE_H

#include "ckpt/Plan/Report.h"

namespace ckpt::plan::report {

/// What is known before a plan: the program as written, its arguments, and the
/// plan without a limit.
void measureGiven(const Problem &problem, const Solution &baseline,
                  Figures &figures);

/// The figures of \p solution, with bounds that hold for any plan within
/// \p withinBytes.
void measurePlan(const Problem &problem, const Solution &solution,
                 const Bound &bound, int64_t withinBytes, Figures &figures);

} // namespace ckpt::plan::report

#endif // CKPT_REPORT_MEASURE_H
