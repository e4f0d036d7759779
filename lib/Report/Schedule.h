//===- Schedule.h - Parts of the tables of a schedule -----------*- C++ -*-===//

#ifndef CKPT_LIB_REPORT_SCHEDULE_H
#define CKPT_LIB_REPORT_SCHEDULE_H

#include "ckpt/Report/StepReport.h"

#include <unordered_map>

namespace ckpt::plan::report {

/// Gives values of the problem their rows in the report, and names their layers
/// and sources.
class ValueTable {
public:
  ValueTable(const ReportInput &input, StepReport &report)
      : input(input), report(report) {}
  /// The row of \p id, new or not.
  int32_t at(plan::ValueId id);

private:
  const ReportInput &input;
  StepReport &report;
  std::unordered_map<plan::ValueId, int32_t> numbers;
  std::map<std::string, int32_t> layers, sources;
};

/// Every anchor that runs again and every value that is written again, in the
/// order of kernels, with values by their numbers in the problem. Also sets
/// `ReportKernel::repeats`.
std::vector<Recomputation>
findRecomputations(const plan::Problem &problem, const plan::Solution &solution,
                   std::vector<ReportKernel> &kernels);

/// Groups layers into bands, and sets `ReportLayer::band`.
void chooseBands(StepReport &report);

} // namespace ckpt::plan::report

#endif // CKPT_LIB_REPORT_SCHEDULE_H
