//===- Measure.h - The figures of a plan ------------------------*- C++ -*-===//

#ifndef CKPT_REPORT_MEASURE_H
#define CKPT_REPORT_MEASURE_H

#include "ckpt/Plan/Report.h"
#include "ckpt/Report/StepReport.h"

namespace ckpt::plan::report {

/// Figures known before a plan: of the program as written, its arguments, and
/// the unlimited plan.
void measureGiven(const Problem &problem, const Solution &baseline,
                  Figures &figures);

/// The figures of \p solution, with bounds that hold for any plan within
/// \p withinBytes.
void measurePlan(const Problem &problem, const Solution &solution,
                 const Bound &bound, int64_t withinBytes, Figures &figures);

/// The caller's figures of a plan for a problem that belongs to no program.
struct ProblemFigures {
  /// -1 without a budget.
  int64_t budgetBytes = -1;
  /// The smallest arena that a search for a budget found; 0 without a search.
  int64_t smallestBytes = 0;
};

/// The report of \p solution, with the figures that a problem has; its title
/// and strategy are the caller's to set.
StepReport reportProblem(const Problem &problem, const Solution &solution,
                         const Solution &baseline, const Bound &bound,
                         const ProblemFigures &given);

} // namespace ckpt::plan::report

#endif // CKPT_REPORT_MEASURE_H
