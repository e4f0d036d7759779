//===- Measure.cpp - The figures of a plan --------------------------------===//

#include "ckpt/Report/Measure.h"
#include "ckpt/Plan/Donation.h"
#include "ckpt/Plan/ResultScratch.h"

using namespace ckpt::plan;

void report::measureGiven(const Problem &problem, const Solution &baseline,
                          Figures &figures) {
  AsWritten written = asWritten(problem);
  figures.writtenPeakBytes = written.peakBytes;
  figures.writtenBytesMoved = written.bytesMoved;
  figures.flops = written.flops;
  for (const Value &value : problem.values)
    if (value.op == none)
      figures.argumentBytes += value.bytes;
  figures.baselinePeakBytes = baseline.plan.arenaBytes;
  figures.baselineCostNs = baseline.verdict.timeNs;
  figures.baselineBytesMoved = baseline.verdict.bytesMoved;
}

void report::measurePlan(const Problem &problem, const Solution &solution,
                         const Bound &bound, int64_t withinBytes,
                         Figures &figures) {
  figures.peakBytes = solution.plan.arenaBytes;
  figures.donatedBytes = donatedBytes(problem, solution.plan);
  figures.scratchBytes = scratchBytes(problem, solution.plan);
  figures.livePeakBytes = solution.verdict.livePeakBytes;
  figures.costNs = solution.verdict.timeNs;
  figures.extraFlops = solution.verdict.extraFlops;
  figures.bytesMoved = solution.verdict.bytesMoved;
  figures.kernels = static_cast<int64_t>(solution.plan.kernels.size());
  int64_t boundBytes = withinBytes + mostScratchBytes(problem);
  figures.extraFlopsBound = bound.extraFlops(boundBytes);
  figures.costBoundNs = bound.timeNs(boundBytes);
  figures.minimumBudgetBoundBytes =
      minimumArenaBytes(problem, bound.minimumBytes());
  if (figures.minimumBudgetBytes == 0)
    figures.minimumBudgetBytes = figures.peakBytes;
}

report::StepReport report::reportProblem(const Problem &problem,
                                         const Solution &solution,
                                         const Solution &baseline,
                                         const Bound &bound,
                                         const ProblemFigures &given) {
  Figures figures;
  measureGiven(problem, baseline, figures);
  for (const Value &value : problem.values)
    if (value.home == Home::Result)
      figures.resultBytes += value.bytes;
  figures.budgetBytes = given.budgetBytes;
  figures.minimumBudgetBytes = given.smallestBytes;
  measurePlan(problem, solution, bound,
              given.budgetBytes >= 0 ? given.budgetBytes
                                     : solution.plan.arenaBytes,
              figures);
  StepReport made;
  addFigures(figures, made.figures);
  addSchedule({problem, solution, baseline, {}}, made);
  return made;
}
