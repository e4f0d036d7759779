//===- PlanPass.cpp - The pass --ckpt-plan --------------------------------===//
//
// Options of `--ckpt-plan` become a request, a plan becomes attributes, files
// and reports; planning itself is PlanStep.cpp. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Layers/LayerPins.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Import/Donation.h"
#include "ckpt/Plan/Certificate.h"
#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/Regions.h"
#include "ckpt/Support/OutputFile.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Transforms/PlanStep.h"
#include "ckpt/Transforms/PolicyScript.h"
#include "ckpt/Transforms/Prepare.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

#include <sstream>

namespace ckpt {
#define GEN_PASS_DEF_PLANPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

namespace {
struct PlanPass : impl::PlanPassBase<PlanPass> {
  using PlanPassBase::PlanPassBase;

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PlanPassBase::getDependentDialects(registry);
    registerPreparedDialects(registry);
  }

  PlanPass(plan::report::StepReport &report, const plan::SolverOptions &solver)
      : reportOut(&report), solver(solver) {}

  void runOnOperation() override {
    FailureOr<mlir::func::FuncOp> step = findStep(getOperation(), function);
    if (failed(step) || failed(readStrategyAttribute(*step)) ||
        failed(prepareFirst(*step)) || failed(planStep(*step)))
      signalPassFailure();
  }

private:
  LogicalResult prepareFirst(mlir::func::FuncOp step) {
    if (!prepare)
      return success();
    FailureOr<PreparationSummary> summary = prepareStep(step, {unrollLimit});
    if (succeeded(summary))
      preparation = summary->text();
    return summary;
  }

  /// Options that stand in the file count where the command line says nothing.
  LogicalResult readStrategyAttribute(mlir::func::FuncOp step) {
    auto text =
        step->getAttrOfType<mlir::StringAttr>(CkptDialect::strategyAttrName());
    if (!text || !strategy.empty() || !budget.empty() || !planFile.empty())
      return success();
    return initializeOptions(text.getValue(), [&](const Twine &message) {
      return mlir::emitError(step.getLoc())
             << "in '" << CkptDialect::strategyAttrName() << "': " << message;
    });
  }

  LogicalResult readLimits(mlir::func::FuncOp step, PlanRequest &request);
  LogicalResult checkOutputs(mlir::func::FuncOp step);
  FailureOr<PlanRequest> readRequest(mlir::func::FuncOp step);
  LogicalResult planStep(mlir::func::FuncOp step);
  LogicalResult replayPlan(ProgramProblem &program);
  LogicalResult savePlanFile(const ProgramProblem &program,
                             const plan::Solution &solution,
                             int64_t budgetBytes);
  LogicalResult saveCertificate(const ProgramProblem &program,
                                const PlanOutcome &outcome);
  LogicalResult planFrontier(const ProgramProblem &program,
                             const plan::SolverOptions &options);
  LogicalResult giveReport(plan::report::StepReport report);
  /// On a terminal, where the caller shows nothing.
  bool showsProgress() const {
    return !solver.progress && llvm::sys::Process::StandardErrIsDisplayed();
  }
  void printReport(const ProgramProblem &program, const PlanOutcome &outcome);

  /// A line of the report.
  std::string preparation;

  /// The curve of `frontier`; becomes part of the report.
  plan::Frontier curve;

  /// Receives the caller's report; may be null.
  plan::report::StepReport *reportOut = nullptr;

  /// The caller's options; `readRequest` completes them.
  plan::SolverOptions solver;
};
} // namespace

std::unique_ptr<mlir::Pass>
ckpt::createPlanPass(plan::report::StepReport &report,
                     const plan::SolverOptions &solver) {
  return std::make_unique<PlanPass>(report, solver);
}

/// Before anything that takes long.
LogicalResult PlanPass::checkOutputs(mlir::func::FuncOp step) {
  const std::pair<StringRef, StringRef> outputs[] = {
      {"report", reportFile},
      {"save-plan", savePlan},
      {"certificate", certificate},
      {"frontier-json", frontierJson},
      {"frontier-svg", frontierSvg}};
  for (auto [option, path] : outputs)
    if (!path.empty())
      if (llvm::Error error = checkOutputFile(path, option))
        return mlir::emitError(step.getLoc())
               << llvm::toString(std::move(error));
  return success();
}

/// The options `reserve` and `region-budget`.
LogicalResult PlanPass::readLimits(mlir::func::FuncOp step,
                                   PlanRequest &request) {
  auto fail = [&](const Twine &message) {
    return mlir::emitError(step.getLoc()) << message;
  };
  std::string error;
  if (!regionBudget.empty())
    error = plan::parseLayerSettings("region-budget", regionBudget,
                                     request.regions);
  if (!error.empty())
    return fail(error);
  if (reserve.empty())
    return success();
  plan::Budget bytes;
  if (!plan::parseBudget(reserve, bytes, error))
    return fail("in 'reserve': " + error);
  if (bytes.partsPerMillion || !request.budget ||
      request.budget->partsPerMillion)
    return fail("'reserve' is bytes taken off a 'budget' in bytes, but got '" +
                reserve + "' of budget '" + budget + "'");
  if (bytes.bytes >= request.budget->bytes)
    return fail("expected 'reserve' to leave something of the budget, but got "
                "'" +
                reserve + "' of '" + budget + "'");
  request.budget->bytes -= bytes.bytes;
  return success();
}

FailureOr<PlanRequest> PlanPass::readRequest(mlir::func::FuncOp step) {
  PlanRequest request;
  request.strategy.strategy = strategy;
  const std::pair<StringRef, std::string> parameters[] = {
      {"ratio", ratio},
      {"n", every},
      {"top-k", topK},
      {"ops", ops},
      {"heavy-flops", heavyFlops},
      {"min-params", minParameters},
      {"policy", policy},
      {"policy-script", policyScript},
      {"layers", layers},
      {"interval", interval},
      {"boundaries", boundaries},
      {"memory-fraction", memoryFraction},
      {"min-interval", minInterval},
      {"recompute-attention", recomputeAttention},
      {"recompute-ffn", recomputeFFN}};
  for (const auto &[key, text] : parameters) {
    if (text.empty())
      continue;
    bool known = true;
    std::string error =
        plan::setStrategyOption(request.strategy, key.str(), text, known);
    if (!error.empty())
      return mlir::emitError(step.getLoc()) << error;
  }
  if (!budget.empty() || budget.hasValue()) {
    std::string error;
    if (!plan::parseBudget(budget, request.budget.emplace(), error))
      return mlir::emitError(step.getLoc()) << error;
  }
  if (failed(readLimits(step, request)))
    return failure();
  if (!budgetModel.empty() && budgetModel != "layer-sum")
    return mlir::emitError(step.getLoc())
           << "expected 'budget-model' to be 'layer-sum', "
              "but got '"
           << budgetModel << "'";
  request.layerSum = budgetModel == "layer-sum";
  request.countArguments = countArguments;
  request.solver = solver;
  request.solver.fusion = fusion;
  request.solver.reorder = reorder;
  if (timeLimitMs < 0)
    return mlir::emitError(step.getLoc())
           << "expected 'time-limit' not to be negative, but got "
           << int64_t(timeLimitMs);
  request.solver.timeLimitMs = timeLimitMs;
  if (effortMs < 0)
    return mlir::emitError(step.getLoc())
           << "expected 'effort' not to be negative, but got "
           << int64_t(effortMs);
  request.solver.effortMs = effortMs;
  if (showsProgress())
    request.solver.progress = [](const std::string &line) {
      llvm::errs() << "\r\033[K" << line;
    };
  return request;
}

LogicalResult PlanPass::savePlanFile(const ProgramProblem &program,
                                     const plan::Solution &solution,
                                     int64_t budgetBytes) {
  std::ostringstream text;
  plan::printPlanFile(makePlanFile(program, solution, budgetBytes), text);
  llvm::Error error = writeOutputFile(
      savePlan, [&](llvm::raw_ostream &os) { os << text.str(); });
  if (error)
    return mlir::emitError(getOperation().getLoc())
           << llvm::toString(std::move(error));
  return success();
}

LogicalResult PlanPass::saveCertificate(const ProgramProblem &program,
                                        const PlanOutcome &outcome) {
  if (outcome.isForwardChain)
    return mlir::emitError(getOperation().getLoc())
           << "a forward chain of layers has decisions, but no plan to certify";
  // A certificate is about the arena alone.
  int64_t within = outcome.solution.plan.arenaBytes;
  if (!countArguments)
    within = std::max(within, outcome.figures.budgetBytes);
  std::string text =
      plan::certify(program.problem, outcome.solution, within, *outcome.bound);
  llvm::Error error =
      writeOutputFile(certificate, [&](llvm::raw_ostream &os) { os << text; });
  if (error)
    return mlir::emitError(getOperation().getLoc())
           << llvm::toString(std::move(error));
  return success();
}

/// To the caller and to the file.
LogicalResult PlanPass::giveReport(plan::report::StepReport report) {
  plan::report::addFrontier(curve, report);
  plan::report::Format format = plan::report::formatOf(reportFile.getValue());
  auto fail = [&](const Twine &message) {
    return mlir::emitError(getOperation().getLoc()) << message;
  };
  if (std::string reason = plan::report::refuse(report, format);
      !reason.empty())
    return fail(reason);
  if (!reportFile.empty()) {
    std::ostringstream text;
    plan::report::write(report, format, text);
    if (llvm::Error error = writeOutputFile(
            reportFile, [&](llvm::raw_ostream &os) { os << text.str(); }))
      return fail(llvm::toString(std::move(error)));
  }
  if (reportOut)
    *reportOut = std::move(report);
  return success();
}

LogicalResult PlanPass::replayPlan(ProgramProblem &program) {
  mlir::func::FuncOp step = program.function;
  for (const auto &[name, value] :
       {std::pair<StringRef, StringRef>{"budget", budget},
        {"strategy", strategy},
        {"region-budget", regionBudget},
        {"reserve", reserve},
        {"report", reportFile},
        {"save-plan", savePlan},
        {"certificate", certificate}})
    if (!value.empty())
      return mlir::emitError(step.getLoc())
             << "'plan-file' replays a plan as it is and takes no '" << name
             << "'";
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(planFile);
  if (!buffer)
    return mlir::emitError(step.getLoc())
           << "'" << planFile
           << "' cannot be read: " << buffer.getError().message();
  plan::PlanFile file;
  std::string error;
  if (!plan::parsePlanFile((*buffer)->getBuffer(), file, error))
    return mlir::emitError(step.getLoc())
           << "'" << planFile << "' is no plan: " << error;
  FailureOr<plan::Solution> solution = readPlanFile(program, file);
  if (failed(solution))
    return failure();
  annotatePlan(program, *solution);
  if (!quiet)
    llvm::errs() << "ckpt: @" << step.getName() << ": replayed '" << planFile
                 << "', arena " << plan::formatBytes(solution->plan.arenaBytes)
                 << "\n";
  return success();
}

LogicalResult PlanPass::planFrontier(const ProgramProblem &program,
                                     const plan::SolverOptions &options) {
  mlir::func::FuncOp function = program.function;
  constexpr int32_t mostPoints = 10000;
  if (frontier < 2 || frontier > mostPoints)
    return mlir::emitError(function.getLoc())
           << "expected 'frontier' to be a number of budgets from 2 to "
           << mostPoints << ", but got " << int32_t(frontier);
  curve = plan::solveFrontier(program.problem, frontier, options);
  if (showsProgress())
    llvm::errs() << "\r\033[K";
  if (options.isInterrupted())
    return reportInterrupt(function);
  if (!curve.error.empty())
    return mlir::emitError(function.getLoc()) << curve.error;
  std::string title = "@" + function.getSymName().str();
  std::ostringstream text, json, svg;
  plan::printFrontierJson(curve, json);
  plan::printFrontierSvg(curve, title, svg);
  for (auto [path, content] : {std::pair(StringRef(frontierJson), json.str()),
                               std::pair(StringRef(frontierSvg), svg.str())}) {
    if (path.empty())
      continue;
    llvm::Error error = writeOutputFile(
        path, [&written = content](llvm::raw_ostream &os) { os << written; });
    if (error)
      return mlir::emitError(function.getLoc())
             << llvm::toString(std::move(error));
  }
  plan::printFrontier(curve, title, text);
  if (!quiet)
    llvm::errs() << text.str();
  return success();
}

LogicalResult PlanPass::planStep(mlir::func::FuncOp step) {
  FailureOr<PlanRequest> request = readRequest(step);
  if (failed(request) || failed(checkOutputs(step)))
    return failure();
  // The script and the option pin layers and ops, which the problem then
  // demands.
  if (!policyScript.empty() && failed(applyPolicyScript(step, policyScript)))
    return failure();
  if (!pin.empty() && failed(pinLayers(step, pin)))
    return failure();
  if (!donate.empty() && failed(markDonated(step, donate)))
    return failure();
  FailureOr<ProgramProblem> program = buildProblem(step, device);
  if (failed(program))
    return failure();
  program->problem.scratchInResults = scratchInResults;
  if (!planFile.empty())
    return replayPlan(*program);
  if (frontier != 0) {
    if (!regionBudget.empty() || !program->problem.regions.empty())
      return mlir::emitError(step.getLoc())
             << "'frontier' is about budgets of the whole and knows none of "
                "regions";
    if (failed(planFrontier(*program, request->solver)))
      return failure();
    if (!request->budget && request->strategy.strategy.empty() &&
        reportFile.empty())
      return success();
  }
  // Regions are demands that the planned function carries, as it does pins.
  auto demands = [&] {
    return plan::fingerprint(plan::withoutRegions(program->problem));
  };
  std::string asked = demands();
  FailureOr<PlanOutcome> outcome = planProgram(*program, *request);
  if (showsProgress())
    llvm::errs() << "\r\033[K";
  if (failed(outcome))
    return failure();
  if (!preparation.empty())
    outcome->text.notes.insert(outcome->text.notes.begin(), preparation);
  if ((reportOut || !reportFile.empty()) &&
      failed(giveReport(makeStepReport(*program, *outcome))))
    return failure();
  if (!outcome->figures.feasible)
    return failure();
  if (outcome->isForwardChain && !savePlan.empty())
    return mlir::emitError(step.getLoc())
           << "a forward chain of layers has decisions, but no plan to save";
  // A sum over layers is no budget for the arena.
  int64_t budgetBytes = request->layerSum ? -1 : outcome->figures.budgetBytes;
  if (!savePlan.empty() &&
      failed(savePlanFile(*program, outcome->solution, budgetBytes)))
    return failure();
  if (!certificate.empty() && asked != demands())
    return mlir::emitError(step.getLoc())
           << "a certificate is about the program alone, but the strategy adds "
              "demands of its own";
  if (!certificate.empty() && failed(saveCertificate(*program, *outcome)))
    return failure();
  if (!outcome->isForwardChain)
    annotatePlan(*program, outcome->solution);
  if (!quiet)
    printReport(*program, *outcome);
  return success();
}

void PlanPass::printReport(const ProgramProblem &program,
                           const PlanOutcome &outcome) {
  if (outcome.isForwardChain) {
    llvm::errs() << "ckpt: " << outcome.text.title
                 << ", a forward chain of layers; strategy: "
                 << outcome.text.strategy << "\n";
    for (const std::string &note : outcome.text.notes)
      llvm::errs() << "  " << note << "\n";
    return;
  }
  std::ostringstream text;
  plan::printReport(program.problem, outcome.solution, outcome.figures,
                    outcome.text, text);
  llvm::errs() << text.str();
}
