//===- Solve.cpp - The modes of ckpt-plan that make or check a plan -------===//

#include "Tool.h"
#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Certificate.h"
#include "ckpt/Plan/Explain.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/ResultScratch.h"
#include "ckpt/Report/Measure.h"
#include "ckpt/Report/StepReport.h"

#include <algorithm>
#include <iostream>
#include <sstream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

namespace {

/// More ops than this keep the exhaustive search busy for hours.
constexpr size_t referenceLimit = 10;

class Solve {
public:
  explicit Solve(const Arguments &arguments) : arguments(arguments) {}
  bool run();
  bool check();

private:
  bool start();
  bool readPlan();
  bool solve();
  std::string strategyName() const {
    std::string name = arguments.value("strategy");
    return !name.empty() ? name : budget ? "budget" : "none";
  }
  bool solveWithin(int64_t bytes);
  bool failInfeasible(int64_t bytes, const Solution &smallest) const;
  bool searchAll(int64_t bytes);
  LeastCosts provenWithin(int64_t bytes);
  bool finish(const std::string &planned);
  bool writeReport() const;
  void report();
  void line(const char *what, const std::string &figure) const {
    std::cout << (arguments.has("print-plan") ? "// " : "") << what << figure
              << "\n";
  }

  const Arguments &arguments;
  std::optional<Budget> budget;
  SolverOptions options;
  Problem problem;
  AsWritten written;
  std::optional<int64_t> budgetBytes;
  /// Arena of the smallest plan that a search for a budget found; 0 without.
  int64_t smallestBytes = 0;
  Solution baseline, solution;
  std::optional<Bound> bound;
  /// For the budget, or for the arena of the plan.
  std::optional<LeastCosts> proven;
};

} // namespace

bool Solve::start() {
  if (!readBudget(arguments, budget) ||
      !readSolverOptions(arguments, options) ||
      !tool::readProblem(arguments.file, problem))
    return false;
  options.beginLimit();
  written = asWritten(problem);
  return true;
}

bool Solve::run() { return start() && solve() && finish(arguments.file); }

bool Solve::check() {
  return start() && readPlan() && finish(arguments.value("check-plan"));
}

bool Solve::finish(const std::string &planned) {
  if (!solution.verdict.error.empty())
    return fail(planned, solution.verdict.error);
  report();
  if (arguments.has("print-plan"))
    printPlan(solution.plan, std::cout);
  if (arguments.has("report") && !writeReport())
    return false;
  if (!arguments.has("certificate"))
    return true;
  int64_t within = budgetBytes.value_or(solution.plan.arenaBytes);
  return writeFile(arguments.value("certificate"),
                   certify(problem, solution, within, *bound));
}

/// Writes the figures of `ckpt-opt`, as far as a problem has them.
bool Solve::writeReport() const {
  report::StepReport made =
      report::reportProblem(problem, solution, baseline, *bound,
                            {budgetBytes.value_or(-1), smallestBytes});
  made.text.title = arguments.file;
  made.text.strategy = arguments.has("check-plan")
                           ? "the plan in " + arguments.value("check-plan")
                           : strategyName();
  if (budgetBytes)
    made.text.strategy += ", " + formatBytes(*budgetBytes);
  std::string path = arguments.value("report");
  std::ostringstream text;
  report::write(made, report::formatOf(path), text);
  return writeFile(path, text.str());
}

bool Solve::readPlan() {
  std::string path = arguments.value("check-plan"), text, error;
  if (!readFile(path, text))
    return false;
  if (!parsePlan(text, problem, solution.plan, error))
    return fail(path, error);
  bool placed = solution.plan.arenaBytes != 0;
  for (const Kernel &kernel : solution.plan.kernels)
    placed |= !kernel.offsets.empty() || kernel.workspaceOffset != -1;
  solution.verdict = validate(problem, solution.plan, placed);
  if (arguments.has("report"))
    baseline = solveUnlimited(problem, options);
  return true;
}

bool Solve::solve() {
  std::string strategy = strategyName();
  if (strategy != "budget" && strategy != "none" && strategy != "reference" &&
      !isBaseline(strategy))
    return fail("ckpt-plan",
                "expected a strategy of --help, but got '" + strategy + "'");
  if (strategy == "budget" && !budget)
    return fail("ckpt-plan", "strategy 'budget' needs --budget");
  if (strategy == "none" && budget)
    return fail("ckpt-plan", "strategy 'none' takes no --budget");
  bool hasRegions = !problem.regions.empty();
  if (hasRegions && strategy != "budget" && strategy != "none")
    return fail(arguments.file,
                "strategy '" + strategy + "' knows no budgets of regions");
  baseline = solveUnlimited(problem, options);
  if (budget)
    budgetBytes = budget->resolve(baseline.plan.arenaBytes);
  if (isBaseline(strategy)) {
    solution = solveBaseline(problem, strategy, budgetBytes, options);
    return true;
  }
  if (strategy == "reference")
    return searchAll(budgetBytes.value_or(INT64_MAX));
  if (budgetBytes)
    return solveWithin(*budgetBytes);
  if (hasRegions)
    return solveWithin(baseline.plan.arenaBytes);
  solution = baseline;
  return true;
}

bool Solve::solveWithin(int64_t bytes) {
  BudgetResult result =
      solveBudget(problem, bytes, options, &baseline, provenWithin(bytes));
  if (options.progress)
    options.progress("");
  smallestBytes = result.smallest.plan.arenaBytes;
  if (result.best) {
    solution = std::move(*result.best);
    return true;
  }
  if (!result.smallest.verdict.error.empty())
    return fail(arguments.file, result.smallest.verdict.error);
  if (result.shortage)
    return fail(arguments.file,
                describeShortage(problem, *result.shortage, *bound));
  return failInfeasible(bytes, result.smallest);
}

LeastCosts Solve::provenWithin(int64_t bytes) {
  if (!bound)
    bound.emplace(problem, options);
  if (!proven) {
    int64_t boundBytes = bytes + mostScratchBytes(problem);
    proven = {bound->timeNs(boundBytes), bound->extraFlops(boundBytes)};
  }
  return *proven;
}

/// An error with the known facts, and notes on ways to lower the bytes.
bool Solve::failInfeasible(int64_t bytes, const Solution &smallest) const {
  int64_t least = minimumArenaBytes(problem, bound->minimumBytes());
  fail(arguments.file, describeBudget(bytes, smallest.plan.arenaBytes, least));
  auto note = [&](const std::string &what) {
    std::cerr << arguments.file << ": note: " << what << "\n";
  };
  std::string cause = describeBound(problem, *bound);
  if (!cause.empty())
    note(cause);
  constexpr size_t shown = 8;
  std::vector<HeldAtPeak> held =
      explainPeak(problem, smallest.plan, smallest.verdict);
  for (size_t i = 0; i < std::min(held.size(), shown); ++i)
    note("at the peak of the smallest plan, " + describe(problem, held[i]));
  return false;
}

bool Solve::searchAll(int64_t bytes) {
  if (problem.ops.size() > referenceLimit)
    return fail(arguments.file, "expected at most " +
                                    std::to_string(referenceLimit) +
                                    " ops for an exhaustive search, but got " +
                                    std::to_string(problem.ops.size()));
  std::optional<Plan> plan = solveReference(problem, bytes);
  if (!plan)
    return fail(arguments.file, "no plan exists within a live peak of " +
                                    std::to_string(bytes) + " bytes");
  solution.plan = std::move(*plan);
  packSlots(problem, solution.plan, bytes);
  solution.verdict = validate(problem, solution.plan, true);
  return true;
}

void Solve::report() {
  const Verdict &verdict = solution.verdict;
  line("ops          ", formatCount(problem.ops.size()));
  line("kernels      ", formatCount(solution.plan.kernels.size()));
  if (!solution.subSolver.empty())
    line("sub-solver   ", solution.subSolver);
  line("as written   ", formatCount(written.peakBytes) + " bytes");
  if (budgetBytes)
    line("budget       ", formatCount(*budgetBytes) + " bytes");
  line("arena        ", formatCount(solution.plan.arenaBytes) + " bytes");
  line("live peak    ", formatCount(verdict.livePeakBytes) + " bytes");
  if (int64_t bytes = scratchBytes(problem, solution.plan))
    line("in results   ", formatCount(bytes) + " bytes");
  for (size_t i = 0; i < problem.regions.size(); ++i)
    line("region       ", "'" + problem.regions[i].name + "' takes " +
                              formatCount(verdict.regionPeakBytes[i]) + " of " +
                              formatCount(problem.regions[i].budgetBytes) +
                              " bytes");
  line("time         ", formatCount(verdict.timeNs) + " ns");
  line("bytes moved  ", formatCount(verdict.bytesMoved));
  auto [leastNs, boundFlops] =
      provenWithin(budgetBytes.value_or(solution.plan.arenaBytes));
  int64_t gap = std::max<int64_t>(0, verdict.extraFlops - boundFlops);
  line("extra flops  ",
       formatCount(verdict.extraFlops) + " of " + formatCount(written.flops) +
           ", bound " + formatCount(boundFlops) + ", gap " + formatCount(gap));
  line("time bound   ",
       leastNs == 0 ? "none for so many ops"
                    : formatCount(leastNs) + " ns for any plan, gap " +
                          formatCount(verdict.timeNs - leastNs) + " ns");
}

bool tool::solveMode(const Arguments &arguments) {
  return Solve(arguments).run();
}

bool tool::checkPlanMode(const Arguments &arguments) {
  return Solve(arguments).check();
}
