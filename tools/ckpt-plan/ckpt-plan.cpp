//===- ckpt-plan.cpp - Plans text problems, without any IR ----------------===//
//
// For people who compare solvers and for tests of the planner: reads a problem
// (docs/PlanFormat.md), solves it or checks a given plan, and reports.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Solvers.h"
#include "ckpt/Plan/Text.h"

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

using namespace ckpt::plan;

namespace {

constexpr const char *usage =
    "usage: ckpt-plan [options] FILE\n"
    "\n"
    "Plans the problem in FILE ('-': standard input) and prints a report.\n"
    "\n"
    "  --budget=SIZE      bytes of the arena: 4096 (MiB), 512KiB, 1.5GB, "
    "300B,\n"
    "                     or a share of the baseline such as 50%\n"
    "  --strategy=NAME    budget: least time within the budget (the default\n"
    "                     with --budget); none: no limit (the default "
    "without);\n"
    "                     reference: least extra FLOPs by exhaustive search\n"
    "  --print-plan       print the plan too; the report becomes comments\n"
    "  --check-plan=FILE  check the plan in FILE instead of making one\n";

/// More ops than this keep the exhaustive search busy for hours.
constexpr size_t referenceLimit = 10;

struct Options {
  std::string file, checkPlan, strategy;
  std::optional<Budget> budget;
  bool printPlan = false;
};

bool fail(const std::string &where, const std::string &what) {
  std::cerr << where << ": error: " << what << "\n";
  return false;
}

bool parseOption(const std::string &argument, Options &options) {
  size_t equals = argument.find('=');
  std::string key = argument.substr(0, equals), value;
  if (equals != std::string::npos)
    value = argument.substr(equals + 1);
  if (argument == "--print-plan")
    return options.printPlan = true;
  if (key == "--check-plan" && !value.empty()) {
    options.checkPlan = value;
    return true;
  }
  if (key == "--strategy" &&
      (value == "budget" || value == "none" || value == "reference")) {
    options.strategy = value;
    return true;
  }
  if (key == "--budget") {
    std::string error;
    if (!parseBudget(value, options.budget.emplace(), error))
      return fail("ckpt-plan", error);
    return true;
  }
  return fail("ckpt-plan", "unknown option '" + argument + "'");
}

bool parseArguments(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.size() > 1 && argument[0] == '-') {
      if (!parseOption(argument, options))
        return false;
    } else if (options.file.empty()) {
      options.file = argument;
    } else {
      return fail("ckpt-plan", "expected one file, but got '" + options.file +
                                   "' and '" + argument + "'");
    }
  }
  if (options.file.empty())
    return fail("ckpt-plan", "expected a file; see --help");
  if (options.strategy.empty())
    options.strategy = options.budget ? "budget" : "none";
  if (options.strategy == "budget" && !options.budget)
    return fail("ckpt-plan", "strategy 'budget' needs --budget");
  if (options.strategy == "none" && options.budget)
    return fail("ckpt-plan", "strategy 'none' takes no --budget");
  return true;
}

bool readFile(const std::string &path, std::string &text) {
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return true;
  }
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream)
    return fail(path, "cannot be read");
  text = content.str();
  return true;
}

class Tool {
public:
  explicit Tool(const Options &options) : options(options) {}

  bool run() {
    if (!readProblem())
      return false;
    written = asWritten(problem);
    bool done = options.checkPlan.empty() ? solve() : readPlan();
    if (!done)
      return false;
    if (!solution.verdict.error.empty())
      return fail(options.checkPlan.empty() ? options.file : options.checkPlan,
                  solution.verdict.error);
    report();
    if (options.printPlan)
      printPlan(solution.plan, std::cout);
    return true;
  }

private:
  bool readProblem();
  bool readPlan();
  bool solve();
  bool solveWithin(int64_t bytes);
  bool searchAll(int64_t bytes);
  void report() const;
  void line(const char *what, const std::string &figure) const {
    std::cout << (options.printPlan ? "// " : "") << what << figure << "\n";
  }

  const Options &options;
  Problem problem;
  AsWritten written;
  std::optional<int64_t> budgetBytes;
  Solution solution;
};

bool Tool::readProblem() {
  std::string text, error;
  if (!readFile(options.file, text))
    return false;
  return parseProblem(text, problem, error) || fail(options.file, error);
}

bool Tool::readPlan() {
  std::string text, error;
  if (!readFile(options.checkPlan, text))
    return false;
  if (!parsePlan(text, problem, solution.plan, error))
    return fail(options.checkPlan, error);
  bool placed = solution.plan.arenaBytes != 0;
  for (const Kernel &kernel : solution.plan.kernels)
    placed |= !kernel.offsets.empty() || kernel.workspaceOffset != -1;
  solution.verdict = validate(problem, solution.plan, placed);
  return true;
}

bool Tool::solve() {
  Solution baseline = solveUnlimited(problem, SolverOptions());
  if (options.budget)
    budgetBytes = options.budget->resolve(baseline.plan.arenaBytes);
  if (options.strategy == "reference")
    return searchAll(budgetBytes.value_or(INT64_MAX));
  if (budgetBytes)
    return solveWithin(*budgetBytes);
  solution = std::move(baseline);
  return true;
}

bool Tool::solveWithin(int64_t bytes) {
  BudgetResult result = solveBudget(problem, bytes, SolverOptions());
  if (result.best) {
    solution = std::move(*result.best);
    return true;
  }
  return fail(options.file,
              "no plan was found for a budget of " + std::to_string(bytes) +
                  " bytes; the smallest budget for which one was found is " +
                  std::to_string(result.smallest.plan.arenaBytes) +
                  " bytes, and no plan does with less than " +
                  std::to_string(Bound(problem).minimumBytes()) + " bytes");
}

bool Tool::searchAll(int64_t bytes) {
  if (problem.ops.size() > referenceLimit)
    return fail(options.file, "expected at most " +
                                  std::to_string(referenceLimit) +
                                  " ops for an exhaustive search, but got " +
                                  std::to_string(problem.ops.size()));
  std::optional<Plan> plan = solveReference(problem, bytes);
  if (!plan)
    return fail(options.file, "no plan exists within a live peak of " +
                                  std::to_string(bytes) + " bytes");
  solution.plan = std::move(*plan);
  packSlots(problem, solution.plan, bytes);
  solution.verdict = validate(problem, solution.plan, true);
  return true;
}

void Tool::report() const {
  const Verdict &verdict = solution.verdict;
  line("ops          ", formatCount(problem.ops.size()));
  line("kernels      ", formatCount(solution.plan.kernels.size()));
  line("as written   ", formatCount(written.peakBytes) + " bytes");
  if (budgetBytes)
    line("budget       ", formatCount(*budgetBytes) + " bytes");
  line("arena        ", formatCount(solution.plan.arenaBytes) + " bytes");
  line("live peak    ", formatCount(verdict.livePeakBytes) + " bytes");
  line("time         ", formatCount(verdict.timeNs) + " ns");
  line("bytes moved  ", formatCount(verdict.bytesMoved));
  Bound bound(problem);
  int64_t within = budgetBytes.value_or(solution.plan.arenaBytes);
  int64_t boundFlops = bound.extraFlops(within);
  int64_t gap = std::max<int64_t>(0, verdict.extraFlops - boundFlops);
  line("extra flops  ",
       formatCount(verdict.extraFlops) + " of " + formatCount(written.flops) +
           ", bound " + formatCount(boundFlops) + ", gap " + formatCount(gap));
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--help") {
      std::cout << usage;
      return 0;
    }
  Options options;
  return parseArguments(argc, argv, options) && Tool(options).run() ? 0 : 1;
}
