//===- PlanStep.h - Planning a function, for C++ users ----------*- C++ -*-===//
//
// `--ckpt-plan` as functions, for compilers that link the planner and for the
// runner.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TRANSFORMS_PLANSTEP_H
#define CKPT_TRANSFORMS_PLANSTEP_H

#include "ckpt/Import/Layers.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/LayerPatterns.h"
#include "ckpt/Plan/PlanFile.h"
#include "ckpt/Plan/Report.h"
#include "ckpt/Plan/Strategies.h"
#include "ckpt/Report/StepReport.h"

namespace ckpt {

/// The request to the planner.
struct PlanRequest {
  /// `budget`, `none`, `as-written` or a strategy of docs/Strategies.md. Empty:
  /// `budget` with a budget, else `none`.
  plan::StrategyOptions strategy;
  std::optional<plan::Budget> budget;
  /// The budget is over sums of layers (docs/Strategies.md), not the peak.
  bool layerSum = false;
  /// Budgets of regions, by patterns; besides budgets of layers.
  std::vector<plan::LayerSetting> regions;
  /// The budget also holds the caller's arguments and results.
  bool countArguments = false;
  plan::SolverOptions solver;
};

/// The outcome. Without a plan that fits, `figures.feasible` is false and
/// `solution` is the plan with the smallest arena.
struct PlanOutcome {
  plan::Solution solution;
  /// The plan without a limit; empty for a forward chain.
  plan::Solution baseline;
  plan::Figures figures;
  /// Behind the figures, with their answers; none for a forward chain.
  std::optional<plan::Bound> bound;
  plan::ReportText text;
  /// Keys and figures of a strategy of layers, for the report file.
  std::map<std::string, int64_t> layerFigures;
  /// A forward chain of layers: decisions were written to the layers, there is
  /// no schedule, and `figures` is empty but for the time.
  bool isForwardChain = false;
};

/// Plans \p program. A named strategy constrains its values for good. Reports
/// an error at the function if the strategy does not apply. Reports an error,
/// with notes at the values at the peak, if the budget is infeasible; then it
/// still returns the outcome, with `figures.feasible` false. An interrupted
/// search is an error.
FailureOr<PlanOutcome> planProgram(ProgramProblem &program,
                                   const PlanRequest &request);

/// The error of a planning run that `SolverOptions::interrupted` ended.
LogicalResult reportInterrupt(mlir::func::FuncOp step);

/// Writes decisions and schedule as attributes of the function and its ops.
void annotatePlan(ProgramProblem &program, const plan::Solution &solution);

/// The schedule of an annotated function. Without one, or where only decisions
/// were edited since, one is derived from the decisions, with a remark. Reports
/// an error at the first op that is not the planned one.
FailureOr<plan::Solution> readPlan(ProgramProblem &program);

/// The plan of \p program as a file; \p budgetBytes is -1 without a budget.
plan::PlanFile makePlanFile(const ProgramProblem &program,
                            const plan::Solution &solution,
                            int64_t budgetBytes);

/// The schedule of a plan file, for \p program. Reports an error at the first
/// op that is not the planned one, or that the file does not agree with itself
/// about.
FailureOr<plan::Solution> readPlanFile(ProgramProblem &program,
                                       const plan::PlanFile &file);

/// The report of \p outcome, whose values are at their places in the source.
plan::report::StepReport makeStepReport(const ProgramProblem &program,
                                        const PlanOutcome &outcome);

/// Layers whose backward pass another tool makes later.
bool isForwardChain(const LayerChain &chain);

/// Whether a function has a schedule or decisions to follow.
bool isPlanned(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_TRANSFORMS_PLANSTEP_H
