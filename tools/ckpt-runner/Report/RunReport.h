//===- RunReport.h - What a run says of itself ------------------*- C++ -*-===//
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

/// Everything that was planned, measured and compared; what was not asked for
/// is absent.
struct RunReport {
  /// "@main of gpt2.mlir".
  std::string title;
  /// What was done to the program before; may be empty.
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
  /// Where results differ from the program as written.
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
