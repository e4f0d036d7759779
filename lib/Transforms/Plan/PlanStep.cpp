//===- PlanStep.cpp - From a request to a plan with its figures -----------===//

#include "ckpt/Transforms/PlanStep.h"
#include "Transforms/Layers/LayerReport.h"
#include "ckpt/Import/Layers.h"
#include "ckpt/Import/Regions.h"
#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Donation.h"
#include "ckpt/Plan/Explain.h"
#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/ResultScratch.h"
#include "ckpt/Report/Measure.h"

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
        start(Clock::now()), solver(request.solver) {
    solver.beginLimit();
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
  void searchWithin(int64_t budgetBytes, bool isConstrained);
  LogicalResult solveForBudget(bool isConstrained);
  void solveForRegions(bool isConstrained);
  LogicalResult solveAsOthersDo();
  void measureWhatIsGiven();
  void measureSolution();
  LogicalResult checkPlan();
  LogicalResult checkRegions();
  void noteRegions();
  const plan::Bound &proven();
  void reportInfeasible();
  void noteArguments(mlir::InFlightDiagnostic &diagnostic);
  mlir::Location placeFor(mlir::Location location) const;
  void priceMemory(const plan::Bound &bound, int64_t bytes);
  void findRelief(int64_t bytes);

  ProgramProblem &program;
  plan::Problem &problem;
  const PlanRequest &request;
  std::string strategy;
  Clock::time_point start;
  plan::SolverOptions solver;
  plan::Solution baseline;
  /// The plans of the search for a budget, by live bytes, without slots.
  plan::PlanPool drafts;
  std::optional<plan::Bound> bound;
  /// The region that could not have its budget.
  std::optional<plan::RegionShortage> shortage;
  LayerChain chain;
  plan::Selection selection;
  PlanOutcome outcome;
};
} // namespace

void Planner::measureWhatIsGiven() {
  plan::Figures &figures = outcome.figures;
  plan::report::measureGiven(problem, baseline, figures);
  for (const ProgramResult &result : program.results)
    if (result.value != plan::none)
      figures.resultBytes += problem.values[result.value].bytes;
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
  if (strategy != "budget" && !plan::isLayerStrategy(strategy))
    return mlir::emitError(program.function.getLoc())
           << "a forward chain of layers takes a budget or a strategy of "
              "layers "
              "(docs/Strategies.md), but got '"
           << strategy << "'";
  if (failed(selectFromChain()))
    return failure();
  annotateLayers(chain, selection);
  outcome.isForwardChain = true;
  outcome.figures.planningMs = millisecondsSince(start);
  return std::move(outcome);
}

/// The baseline ignores the demands of layers (\p isConstrained).
LogicalResult Planner::solveForBudget(bool isConstrained) {
  plan::Figures &figures = outcome.figures;
  int64_t budget = request.budget->resolve(figures.baselinePeakBytes);
  figures.budgetBytes = budget;
  if (request.countArguments)
    budget -= figures.argumentBytes + figures.resultBytes;
  searchWithin(budget, isConstrained);
  std::string text = "budget, " + plan::formatBytes(figures.budgetBytes);
  outcome.text.strategy = outcome.text.strategy.empty()
                              ? text
                              : outcome.text.strategy + "; " + text;
  return success();
}

/// Without a budget of the whole, takes the arena without a limit.
void Planner::solveForRegions(bool isConstrained) {
  plan::Solution unlimited =
      isConstrained ? plan::solveUnlimited(problem, solver) : baseline;
  if (!unlimited.verdict.error.empty()) {
    outcome.solution = std::move(unlimited);
    return;
  }
  searchWithin(unlimited.plan.arenaBytes, isConstrained);
  if (outcome.text.strategy.empty())
    outcome.text.strategy = "none, but for regions";
}

void Planner::searchWithin(int64_t budget, bool isConstrained) {
  plan::Figures &figures = outcome.figures;
  plan::SolverOptions options = solver;
  options.onPlan = [&](const plan::Plan &plan, const plan::Verdict &verdict) {
    drafts.add(verdict.livePeakBytes, {plan, verdict});
  };
  bound.emplace(problem, solver);
  int64_t bytes = std::max<int64_t>(budget, 0);
  int64_t boundBytes = bytes + plan::mostScratchBytes(problem);
  plan::BudgetResult result = plan::solveBudget(
      problem, bytes, options, isConstrained ? nullptr : &baseline,
      {bound->timeNs(boundBytes), bound->extraFlops(boundBytes)});
  figures.firstPlanMs = result.firstPlanMs;
  figures.stoppedByClock = result.stoppedByClock;
  figures.minimumBudgetBytes = result.smallest.plan.arenaBytes;
  figures.feasible = result.best && budget >= 0;
  outcome.solution = figures.feasible ? *result.best : result.smallest;
  shortage = result.shortage;
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

/// The simulator's verdict on the solver's plan: a plan that breaks a rule is a
/// defect of ours, and never goes on.
LogicalResult Planner::checkPlan() {
  const std::string &error = outcome.solution.verdict.error;
  if (error.empty())
    return success();
  return mlir::emitError(program.function.getLoc())
         << "the planner made a plan that its simulator refuses: " << error;
}

/// Only the planner itself holds regions to their budgets.
LogicalResult Planner::checkRegions() {
  bool isOthers = strategy == "as-written" || plan::isBaseline(strategy);
  if (problem.regions.empty() || (!isOthers && !request.layerSum))
    return success();
  return mlir::emitError(program.function.getLoc())
         << (isOthers ? "strategy '" + strategy + "'"
                      : std::string("'budget-model=layer-sum'"))
         << " knows no budgets of regions, such as that of '"
         << problem.regions.front().name << "'";
}

void Planner::noteRegions() {
  const std::vector<int64_t> &peaks = outcome.solution.verdict.regionPeakBytes;
  for (auto [region, bytes] : llvm::zip_equal(problem.regions, peaks))
    outcome.text.notes.push_back(
        "region '" + region.name + "' takes " + plan::formatBytes(bytes) +
        " of its budget of " + plan::formatBytes(region.budgetBytes));
}

/// The bounds of the step, which keep their answers.
const plan::Bound &Planner::proven() {
  if (!bound)
    bound.emplace(problem, solver);
  return *bound;
}

void Planner::measureSolution() {
  plan::Figures &figures = outcome.figures;
  const plan::Solution &solution = outcome.solution;
  // A bound for the budget holds for a plan that fits it.
  int64_t bytes = request.budget && figures.feasible && !request.countArguments
                      ? figures.budgetBytes
                      : solution.plan.arenaBytes;
  plan::report::measurePlan(problem, solution, proven(), bytes, figures);
  if (figures.budgetBytes >= 0 && figures.feasible)
    priceMemory(proven(), bytes);
  figures.planningMs = millisecondsSince(start);
}

/// The unlimited plan counts among the found plans.
void Planner::priceMemory(const plan::Bound &bound, int64_t bytes) {
  plan::Figures &figures = outcome.figures;
  drafts.add(baseline.plan.arenaBytes, baseline);
  figures.nextBytes = plan::smallStep(bytes);
  figures.nextSavedNs =
      drafts.savedNs(bytes, figures.costNs, figures.nextBytes);
  int64_t boundBytes =
      bytes + figures.nextBytes + plan::mostScratchBytes(problem);
  figures.nextSavedFlopsAtMost =
      std::max<int64_t>(0, figures.extraFlops - bound.extraFlops(boundBytes));
  findRelief(bytes);
}

/// Finds the end of a budget that costs far too much, by the found plans.
void Planner::findRelief(int64_t bytes) {
  constexpr int64_t timesAsLong = 2, timesAsMuch = 4, partOfStep = 2;
  plan::Figures &figures = outcome.figures;
  bool repeatsMuch = figures.extraFlops > figures.flops / partOfStep;
  for (const auto &[needed, solution] : drafts.plans()) {
    const plan::Verdict &verdict = solution.verdict;
    bool isRelief =
        verdict.timeNs <= figures.costNs / timesAsLong ||
        (repeatsMuch && verdict.extraFlops <= figures.extraFlops / timesAsMuch);
    if (needed <= bytes || !isRelief)
      continue;
    figures.reliefBytes = needed;
    figures.reliefCostNs = verdict.timeNs;
    figures.reliefExtraFlops = verdict.extraFlops;
    return;
  }
}

/// Arguments of steps from JAX have names, but no place in a file: a note there
/// would begin with "<unknown>". Such notes stand at the step.
mlir::Location Planner::placeFor(mlir::Location location) const {
  mlir::func::FuncOp function = program.function;
  return location->findInstanceOf<mlir::FileLineColLoc>() ? location
                                                          : function.getLoc();
}

/// Reports the known facts, the source of the proven bound, and the values at
/// the peak of the smallest plan, each at its place in the program.
void Planner::reportInfeasible() {
  if (shortage) {
    mlir::emitError(program.function.getLoc())
        << plan::describeShortage(problem, *shortage, proven());
    return;
  }
  const plan::Figures &figures = outcome.figures;
  int64_t given =
      request.countArguments ? figures.argumentBytes + figures.resultBytes : 0;
  mlir::InFlightDiagnostic diagnostic =
      mlir::emitError(program.function.getLoc()) << plan::describeBudget(
          figures.budgetBytes, figures.minimumBudgetBytes + given,
          figures.minimumBudgetBoundBytes + given);
  if (request.countArguments)
    diagnostic << "; arguments and results count, with " << given << " bytes";
  std::string cause = plan::describeBound(problem, proven());
  if (!cause.empty())
    diagnostic.attachNote(
        placeFor(program.ops[proven().minimumCause().op]->getLoc()))
        << cause;
  if (request.countArguments)
    noteArguments(diagnostic);
  std::vector<plan::HeldAtPeak> held = plan::explainPeak(
      problem, outcome.solution.plan, outcome.solution.verdict);
  constexpr size_t shown = 8;
  for (const plan::HeldAtPeak &each : ArrayRef(held).take_front(shown))
    diagnostic.attachNote(placeFor(each.value == plan::none
                                       ? program.ops[each.reader]->getLoc()
                                       : program.values[each.value].getLoc()))
        << plan::describe(problem, each);
}

/// Notes the largest of the caller's buffers, if these count.
void Planner::noteArguments(mlir::InFlightDiagnostic &diagnostic) {
  SmallVector<size_t> arguments;
  for (auto [i, value] : llvm::enumerate(problem.values))
    if (value.op == plan::none)
      arguments.push_back(i);
  llvm::stable_sort(arguments, [&](size_t a, size_t b) {
    return problem.values[a].bytes > problem.values[b].bytes;
  });
  constexpr size_t shown = 3;
  for (size_t i : ArrayRef(arguments).take_front(shown))
    diagnostic.attachNote(placeFor(program.values[i].getLoc()))
        << "argument '" << problem.values[i].name << "' takes "
        << plan::formatBytes(problem.values[i].bytes)
        << " throughout, which 'count-arguments' counts";
}

FailureOr<PlanOutcome> Planner::run() {
  outcome.text.title = "@" + program.function.getSymName().str();
  FailureOr<LayerChain> layers = collectLayers(program);
  if (failed(layers) || failed(checkStrategy()))
    return failure();
  chain = std::move(*layers);
  auto hasBudget = [](const auto &regions) {
    return llvm::any_of(regions,
                        [](LayerOp region) { return region.getBudgetAttr(); });
  };
  if (isForwardChain(chain) &&
      (!request.regions.empty() || llvm::any_of(chain.regions, hasBudget)))
    return mlir::emitError(program.function.getLoc())
           << "a forward chain of layers has no schedule that could keep the "
              "budgets of regions";
  if (isForwardChain(chain))
    return planChain();
  baseline = plan::solveUnlimited(problem, solver);
  if (failed(requestRegions(program, request.regions, baseline)) ||
      failed(checkRegions()))
    return failure();
  measureWhatIsGiven();
  bool byLayers = request.layerSum ||
                  (plan::isLayerStrategy(strategy) && strategy != "none");
  if (byLayers) {
    if (failed(selectFromChain()))
      return failure();
    constrain(program, chain, selection);
  }
  if (failed(solve(byLayers)))
    return failure();
  if (request.solver.isInterrupted())
    return reportInterrupt(program.function);
  if (failed(checkPlan()))
    return failure();
  int64_t limitBytes = outcome.solution.plan.arenaBytes;
  if (request.budget && !request.layerSum && !request.countArguments)
    limitBytes = std::max(limitBytes, outcome.figures.budgetBytes);
  if (outcome.figures.feasible && strategy != "as-written")
    outcome.solution = plan::moveForDonations(
        problem, std::move(outcome.solution), limitBytes);
  measureSolution();
  if (!outcome.figures.feasible)
    reportInfeasible();
  else
    noteRegions();
  outcome.baseline = std::move(baseline);
  outcome.bound = bound;
  return std::move(outcome);
}

LogicalResult Planner::solve(bool byLayers) {
  if (strategy == "as-written") {
    outcome.solution = plan::solveAsWritten(problem);
    outcome.text.strategy = "as written, one kernel per op";
  } else if (plan::isBaseline(strategy)) {
    return solveAsOthersDo();
  } else if (request.budget && !request.layerSum) {
    return solveForBudget(byLayers);
  } else if (!problem.regions.empty()) {
    solveForRegions(byLayers);
  } else if (byLayers) {
    outcome.solution = plan::solveUnlimited(problem, solver);
  } else {
    outcome.solution = baseline;
    outcome.text.strategy = "none, nothing that stands in memory recomputed";
  }
  return success();
}

LogicalResult ckpt::reportInterrupt(mlir::func::FuncOp step) {
  return mlir::emitError(step.getLoc()) << "planning was interrupted";
}

FailureOr<PlanOutcome> ckpt::planProgram(ProgramProblem &program,
                                         const PlanRequest &request) {
  return Planner(program, request).run();
}

bool ckpt::isForwardChain(const LayerChain &chain) {
  return !chain.layers.empty() && !chain.hasBackward;
}
