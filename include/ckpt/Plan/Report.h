//===- Report.h - The report of a plan, for people --------------*- C++ -*-===//

#ifndef CKPT_PLAN_REPORT_H
#define CKPT_PLAN_REPORT_H

#include "ckpt/Plan/Solvers.h"

#include <iosfwd>
#include <map>

namespace ckpt::plan {

/// The figures of one planning run, in bytes, nanoseconds and FLOPs. Members
/// are named as in the report file, but for the snake case there.
struct Figures {
  int64_t writtenPeakBytes = 0;
  int64_t baselinePeakBytes = 0;
  /// -1 without a budget.
  int64_t budgetBytes = -1;
  int64_t peakBytes = 0;
  int64_t livePeakBytes = 0;
  int64_t argumentBytes = 0;
  int64_t resultBytes = 0;
  /// Bytes of results that lie in donated arguments.
  int64_t donatedBytes = 0;
  /// Bytes of results that hold other values until they are written.
  int64_t scratchBytes = 0;
  int64_t baselineCostNs = 0;
  int64_t costNs = 0;
  int64_t flops = 0;
  int64_t extraFlops = 0;
  /// No plan within the arena of this one has fewer extra FLOPs, whatever its
  /// order, fusion and recomputations.
  int64_t extraFlopsBound = 0;
  /// Nor is one faster.
  int64_t costBoundNs = 0;
  /// The price of memory. `nextBytes` more would save `nextSavedNs` by plans
  /// that were found; they provably save at most `nextSavedFlopsAtMost`. 0
  /// bytes without a budget.
  int64_t nextBytes = 0;
  int64_t nextSavedNs = 0;
  int64_t nextSavedFlopsAtMost = 0;
  /// The relief point: the smallest larger plan that was found with at most
  /// half of the time, or with a quarter of the extra FLOPs if these are half
  /// of the step's. 0: there is none.
  int64_t reliefBytes = 0;
  int64_t reliefCostNs = 0;
  int64_t reliefExtraFlops = 0;
  int64_t bytesMoved = 0;
  int64_t baselineBytesMoved = 0;
  int64_t writtenBytesMoved = 0;
  int64_t planningMs = 0;
  int64_t firstPlanMs = 0;
  int64_t kernels = 0;
  bool feasible = true;
  bool stoppedByClock = false;
  int64_t minimumBudgetBytes = 0;
  int64_t minimumBudgetBoundBytes = 0;

  /// Extra FLOPs above the bound as a share of the step's.
  double gap() const;
  /// Memory of the step and of its caller: arguments, results and the arena.
  int64_t totalBytes() const {
    return argumentBytes + resultBytes - donatedBytes + peakBytes;
  }
  /// Key and value, as in the report file.
  std::map<std::string, int64_t> integers() const;
};

/// The larger budget at which a steep price ends, as a warning; empty without
/// one.
std::string describeRelief(const Figures &figures);

/// The text beside the figures.
struct ReportText {
  /// "@main in gpt2.mlir".
  std::string title;
  /// "budget, 1,276.0 MiB" or "every 2nd layer".
  std::string strategy;
  /// Lines of the strategy's own accounting; may be empty.
  std::vector<std::string> notes;
};

/// A value that stands in memory when the arena's live bytes are largest.
struct LiveAtPeak {
  /// Values whose names differ in numbers only stand together.
  std::string name;
  int64_t count = 0;
  int64_t bytes = 0;
};

/// Grouped, most bytes first.
std::vector<LiveAtPeak> liveAtPeak(const Problem &problem,
                                   const Verdict &verdict);

/// An amount of memory that is little beside \p bytes and easy to read: 1, 10
/// or 100 of a binary unit.
int64_t smallStep(int64_t bytes);

/// Writes the report that `--ckpt-plan` prints to stderr.
void printReport(const Problem &problem, const Solution &solution,
                 const Figures &figures, const ReportText &text,
                 std::ostream &os);

} // namespace ckpt::plan

#endif // CKPT_PLAN_REPORT_H
