//===- MakeStepReport.cpp - The report of a planned function --------------===//
//
// `--ckpt-plan` calls it with a complete plan. lib/Report knows no IR: the
// places of values in the source are added here.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Transforms/PlanStep.h"

using namespace ckpt;

/// "model.py:12" per value of the problem, or nothing.
static std::vector<std::string> sourcesOf(const ProgramProblem &program) {
  std::vector<std::string> sources;
  for (Value value : program.values) {
    auto place = value.getLoc()->findInstanceOf<mlir::FileLineColLoc>();
    sources.push_back(
        place ? (place.getFilename().getValue() + ":" + Twine(place.getLine()))
                    .str()
              : "");
  }
  return sources;
}

plan::report::StepReport ckpt::makeStepReport(const ProgramProblem &program,
                                              const PlanOutcome &outcome) {
  plan::report::StepReport report;
  report.text = outcome.text;
  if (!outcome.isForwardChain) {
    plan::report::addFigures(outcome.figures, report.figures);
    report.warning = plan::describeRelief(outcome.figures);
    plan::report::addSchedule({program.problem, outcome.solution,
                               outcome.baseline, sourcesOf(program)},
                              report);
  }
  for (const auto &[key, number] : outcome.layerFigures)
    report.figures[key] = number;
  return report;
}
