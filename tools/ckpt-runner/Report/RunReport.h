//===- RunReport.h - The report of a run ------------------------*- C++ -*-===//
//
// Filled while the step is planned, run and compared; printed, and written as
// JSON, at the end.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_REPORT_RUNREPORT_H
#define CKPT_TOOLS_CKPTRUNNER_REPORT_RUNREPORT_H

#include "Report/Profile.h"
#include "Run/CompareResults.h"
#include "Run/MeasureStep.h"

namespace ckpt {

/// All planned, measured and compared figures; figures that the command does
/// not ask for are absent.
struct RunReport {
  /// "@main of gpt2.mlir".
  std::string title;
  /// The rewrites of the program before planning; may be empty.
  std::string preparation;
  /// The report of the plan pass.
  plan::report::StepReport plan;
  std::optional<Measurement> planned;
  /// The kernels of the plan, if they are timed.
  std::vector<PredictedKernel> predicted;
  /// One kernel per op, nothing inlined or recomputed.
  std::optional<Measurement> written;
  /// Fused and ordered, nothing recomputed.
  std::optional<Measurement> baseline;
  std::optional<bool> bitEqual;
  /// The first difference from the program as written.
  std::string difference;
  std::optional<Closeness> closeness;

  /// Whether every comparison came out well.
  bool holds() const {
    return bitEqual.value_or(true) && !(closeness && closeness->outside);
  }
};

/// Writes the report of the plan with everything that was measured.
llvm::Error writeRunReport(StringRef path, const RunReport &report);

/// A table for people.
void printRunReport(const RunReport &report, llvm::raw_ostream &os);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_REPORT_RUNREPORT_H
