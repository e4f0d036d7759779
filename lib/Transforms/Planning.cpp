//===- Planning.cpp - From a request to a plan with its figures -----------===//

#include "ckpt/Transforms/Planning.h"
#include "LayerReport.h"
#include "ckpt/Analysis/Layers.h"
#include "ckpt/Plan/Baselines.h"

#include <chrono>

using namespace ckpt;

namespace {
using Clock = std::chrono::steady_clock;

int64_t millisecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() -
                                                               start)
      .count();
}

/// One planning run.
class Planner {
public:
  Planner(ProgramProblem &program, const PlanRequest &request)
      : program(program), problem(program.problem), request(request),
        start(Clock::now()) {
    strategy = request.strategy.strategy;
    if (strategy.empty())
      strategy = request.budget ? "budget" : "none";
  }

  FailureOr<PlanOutcome> run();

private:
  LogicalResult checkStrategy();
  LogicalResult selectFromChain();
  FailureOr<PlanOutcome> planChain();
  LogicalResult solve(bool byLayers);
  LogicalResult solveForBudget();
  LogicalResult solveAsOthersDo();
  void measureWhatIsGiven();
  void measureSolution();
  LogicalResult checkPlan();
  void reportInfeasible();
  std::string whyItStands(const plan::Instance &instance) const;

  ProgramProblem &program;
  plan::Problem &problem;
  const PlanRequest &request;
  std::string strategy;
  Clock::time_point start;
  plan::Solution baseline;
  LayerChain chain;
  plan::Selection selection;
  PlanOutcome outcome;
};
} // namespace

void Planner::measureWhatIsGiven() {
  plan::Figures &figures = outcome.figures;
  plan::AsWritten written = plan::asWritten(problem);
  figures.writtenPeakBytes = written.peakBytes;
  figures.writtenBytesMoved = written.bytesMoved;
  figures.flops = written.flops;
  for (const plan::Value &value : problem.values)
    if (value.op == plan::none)
      figures.argumentBytes += value.bytes;
  for (const ProgramResult &result : program.results)
    if (result.value != plan::none)
      figures.resultBytes += problem.values[result.value].bytes;
  figures.baselinePeakBytes = baseline.plan.arenaBytes;
  figures.baselineCostNs = baseline.verdict.timeNs;
  figures.baselineBytesMoved = baseline.verdict.bytesMoved;
}

LogicalResult Planner::checkStrategy() {
  auto error = [&] { return mlir::emitError(program.function.getLoc()); };
  if (strategy != "budget" && strategy != "as-written" &&
      !plan::isLayerStrategy(strategy) && !plan::isBaseline(strategy))
    return error() << "expected a strategy of docs/Strategies.md, but got '"
                   << strategy << "'";
  if (strategy == "budget" && !request.budget)
    return error() << "strategy 'budget' needs a budget, such as budget=4096";
  return success();
}

/// On a forward chain a budget is one over sums of layers: the backward pass,
/// whose peak it would bound, is not there.
LogicalResult Planner::selectFromChain() {
  plan::StrategyOptions options = request.strategy;
  options.strategy = strategy;
  if (request.budget) {
    plan::Figures &figures = outcome.figures;
    plan::LayerSum everything = plan::layerSum(chain.layers, {});
    figures.budgetBytes = request.budget->resolve(everything.savedBytes);
    options.budgetBytes = figures.budgetBytes;
  }
  selection = selectLayers(chain, options, program.function.getContext());
  if (!selection.error.empty())
    return mlir::emitError(program.function.getLoc()) << selection.error;
  outcome.text.strategy = selection.summary;
  outcome.text.notes = describeLayers(chain.layers, selection);
  if (chain.layers.empty())
    outcome.text.notes = {"there are no layers: --ckpt-form-layers finds them"};
  outcome.layerFigures = layerFigures(chain.layers, selection);
  return success();
}

/// Decisions for the layers of a forward chain; there is no schedule to make.
FailureOr<PlanOutcome> Planner::planChain() {
  if (failed(selectFromChain()))
    return failure();
  annotateLayers(chain, selection);
  outcome.isForwardChain = true;
  outcome.figures.planningMs = millisecondsSince(start);
  return std::move(outcome);
}

LogicalResult Planner::solveForBudget() {
  plan::Figures &figures = outcome.figures;
  int64_t budget = request.budget->resolve(figures.baselinePeakBytes);
  figures.budgetBytes = budget;
  if (request.countArguments)
    budget -= figures.argumentBytes + figures.resultBytes;
  plan::BudgetResult result =
      plan::solveBudget(problem, std::max<int64_t>(budget, 0), request.solver);
  figures.firstPlanMs = result.firstPlanMs;
  figures.stoppedByClock = result.stoppedByClock;
  figures.minimumBudgetBytes = result.smallest.plan.arenaBytes;
  figures.feasible = result.best && budget >= 0;
  outcome.solution = figures.feasible ? *result.best : result.smallest;
  std::string text = "budget, " + plan::formatBytes(figures.budgetBytes);
  outcome.text.strategy = outcome.text.strategy.empty()
                              ? text
                              : outcome.text.strategy + "; " + text;
  return success();
}

/// A strategy that others have published, at its best within the budget.
LogicalResult Planner::solveAsOthersDo() {
  plan::Figures &figures = outcome.figures;
  std::optional<int64_t> bytes;
  if (request.budget) {
    figures.budgetBytes = request.budget->resolve(figures.baselinePeakBytes);
    bytes = figures.budgetBytes;
    if (request.countArguments)
      *bytes -= figures.argumentBytes + figures.resultBytes;
  }
  outcome.solution =
      plan::solveBaseline(problem, strategy, bytes, request.solver);
  outcome.text.strategy =
      strategy + ", after " + std::string(plan::baselineSource(strategy));
  if (outcome.solution.verdict.error.empty())
    return success();
  return mlir::emitError(program.function.getLoc())
         << outcome.solution.verdict.error;
}

/// The simulator's word on what the solver returned: a plan that breaks a rule
/// is a defect of ours, and never goes on.
LogicalResult Planner::checkPlan() {
  const std::string &error = outcome.solution.verdict.error;
  if (error.empty())
    return success();
  return mlir::emitError(program.function.getLoc())
         << "the planner made a plan that its simulator refuses: " << error;
}

void Planner::measureSolution() {
  plan::Figures &figures = outcome.figures;
  const plan::Solution &solution = outcome.solution;
  figures.peakBytes = solution.plan.arenaBytes;
  figures.livePeakBytes = solution.verdict.livePeakBytes;
  figures.costNs = solution.verdict.timeNs;
  figures.extraFlops = solution.verdict.extraFlops;
  figures.bytesMoved = solution.verdict.bytesMoved;
  figures.kernels = solution.plan.kernels.size();
  plan::Bound bound(problem);
  // What holds for the budget holds for a plan that fits it.
  int64_t bytes = request.budget && figures.feasible && !request.countArguments
                      ? figures.budgetBytes
                      : figures.peakBytes;
  figures.extraFlopsBound = bound.extraFlops(bytes);
  figures.minimumBudgetBoundBytes = bound.minimumBytes();
  if (figures.minimumBudgetBytes == 0)
    figures.minimumBudgetBytes = figures.peakBytes;
  figures.planningMs = millisecondsSince(start);
}

std::string Planner::whyItStands(const plan::Instance &instance) const {
  const plan::Value &value = problem.values[instance.value];
  const plan::Verdict &verdict = outcome.solution.verdict;
  plan::KernelInfo info =
      plan::analyze(problem, outcome.solution.plan.kernels[verdict.peakKernel]);
  if (instance.kernel == verdict.peakKernel)
    return "is made by the kernel at the peak";
  if (llvm::is_contained(info.memoryReads, instance.value))
    return "is read by the kernel at the peak";
  if (value.keep == plan::Keep::Save)
    return "is to be saved, by a pin or the strategy";
  if (!problem.ops[value.op].mayRepeat)
    return "cannot be made again: its op has effects or is not known to be "
           "pure";
  return "is needed later, and every plan that was found keeps it";
}

void Planner::reportInfeasible() {
  const plan::Figures &figures = outcome.figures;
  mlir::InFlightDiagnostic diagnostic =
      mlir::emitError(program.function.getLoc())
      << "no plan was found for a budget of "
      << plan::formatBytes(figures.budgetBytes) << " (" << figures.budgetBytes
      << " bytes); the smallest budget for which one "
      << "was found is " << figures.minimumBudgetBytes
      << " bytes, and no plan does with less than "
      << figures.minimumBudgetBoundBytes << " bytes";
  if (request.countArguments)
    diagnostic << "; arguments and results count, with "
               << figures.argumentBytes + figures.resultBytes << " bytes";
  SmallVector<const plan::Instance *> live;
  const plan::Verdict &verdict = outcome.solution.verdict;
  for (const plan::Instance &instance : verdict.instances)
    if (instance.kernel <= verdict.peakKernel &&
        instance.lastRead >= verdict.peakKernel &&
        problem.values[instance.value].home == plan::Home::Arena)
      live.push_back(&instance);
  llvm::stable_sort(
      live, [&](const plan::Instance *a, const plan::Instance *b) {
        return problem.values[a->value].bytes > problem.values[b->value].bytes;
      });
  constexpr size_t shown = 8;
  for (const plan::Instance *instance : ArrayRef(live).take_front(shown)) {
    const plan::Value &value = problem.values[instance->value];
    diagnostic.attachNote(program.values[instance->value].getLoc())
        << "'" << value.name << "' takes " << plan::formatBytes(value.bytes)
        << " there and " << whyItStands(*instance);
  }
}

FailureOr<PlanOutcome> Planner::run() {
  outcome.text.title = "@" + program.function.getSymName().str();
  FailureOr<LayerChain> layers = collectLayers(program);
  if (failed(layers) || failed(checkStrategy()))
    return failure();
  chain = std::move(*layers);
  if (isForwardChain(chain))
    return planChain();
  baseline = plan::solveUnlimited(problem, request.solver);
  measureWhatIsGiven();
  bool byLayers = request.layerSum ||
                  (plan::isLayerStrategy(strategy) && strategy != "none");
  if (byLayers) {
    if (failed(selectFromChain()))
      return failure();
    constrain(program, chain, selection);
  }
  if (failed(solve(byLayers)) || failed(checkPlan()))
    return failure();
  measureSolution();
  if (!outcome.figures.feasible)
    reportInfeasible();
  return std::move(outcome);
}

LogicalResult Planner::solve(bool byLayers) {
  if (strategy == "as-written") {
    outcome.solution = plan::solveAsWritten(problem);
    outcome.text.strategy = "as written, one kernel per op";
  } else if (plan::isBaseline(strategy)) {
    return solveAsOthersDo();
  } else if (request.budget && !request.layerSum) {
    return solveForBudget();
  } else if (byLayers) {
    outcome.solution = plan::solveUnlimited(problem, request.solver);
  } else {
    outcome.solution = baseline;
    outcome.text.strategy = "none, nothing that stands in memory recomputed";
  }
  return success();
}

FailureOr<PlanOutcome> ckpt::planProgram(ProgramProblem &program,
                                         const PlanRequest &request) {
  return Planner(program, request).run();
}

bool ckpt::isForwardChain(const LayerChain &chain) {
  return !chain.layers.empty() && !chain.hasBackward;
}
