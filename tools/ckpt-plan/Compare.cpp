//===- Compare.cpp - The planner against published strategies -------------===//
//
// Every published strategy at every setting worth trying, and beside it the
// planner's plan within the arena of that one. The table is Markdown:
// scripts/compare puts it into docs/Evaluation/Comparison.md.
//
//===----------------------------------------------------------------------===//

#include "Tool.h"
#include "ckpt/Plan/Baselines.h"

#include <cstdio>
#include <iostream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

namespace {

struct Row {
  std::string strategy, setting;
  int64_t arenaBytes = 0;
  Verdict theirs;
  std::optional<Verdict> ours;
};

class Compare {
public:
  explicit Compare(const Arguments &arguments) : arguments(arguments) {}
  bool run();

private:
  bool chooseStrategies();
  bool addCurve(std::string_view strategy);
  void solveOurs(Row &row);
  void print();
  void printRow(const Row &row) const;
  std::string figures(const Verdict &verdict) const;

  void progress(const std::string &line) const {
    if (options.progress)
      options.progress(line);
  }

  const Arguments &arguments;
  /// Options of each run: of the planner, and of the search behind a strategy.
  SolverOptions options;
  Problem problem;
  std::vector<std::string_view> strategies;
  std::vector<Row> rows;
  /// By arena: the planner's answer.
  std::map<int64_t, std::optional<Verdict>> answers;
  Solution unlimited;
  int64_t stepFlops = 0;
};

} // namespace

bool Compare::chooseStrategies() {
  std::string only = arguments.value("strategy");
  if (only.empty()) {
    strategies = baselineNames();
    return true;
  }
  for (std::string_view name : baselineNames())
    if (name == only)
      strategies = {name};
  return !strategies.empty() ||
         fail("ckpt-plan",
              "expected a published strategy, but got '" + only + "'");
}

bool Compare::addCurve(std::string_view strategy) {
  progress("plans of " + std::string(strategy));
  BaselineCurve curve =
      baselineCurve(problem, strategy, std::nullopt, options, &unlimited);
  progress("");
  if (!curve.error.empty())
    std::cout << "left out: " << curve.error << "\n";
  for (const std::string &refused : curve.refused)
    if (curve.error.empty())
      std::cout << "left out: " << strategy << ", " << refused << "\n";
  for (BaselinePoint &point : curve.points)
    rows.push_back({std::string(strategy), point.setting,
                    point.solution.plan.arenaBytes,
                    std::move(point.solution.verdict), std::nullopt});
  return true;
}

void Compare::solveOurs(Row &row) {
  auto [answer, isNew] = answers.try_emplace(row.arenaBytes);
  if (isNew) {
    BudgetResult result =
        solveBudget(problem, row.arenaBytes, options, &unlimited);
    if (result.best)
      answer->second = std::move(result.best->verdict);
  }
  row.ours = answer->second;
}

/// "+1.25 % | +0.50 %": time and FLOPs beyond the unlimited plan.
std::string Compare::figures(const Verdict &verdict) const {
  auto percent = [](int64_t part, int64_t whole) {
    return 100 * static_cast<double>(part) /
           static_cast<double>(std::max<int64_t>(whole, 1));
  };
  char text[64];
  std::snprintf(text, sizeof(text), "%+7.2f %% | %6.2f %%",
                percent(verdict.timeNs - unlimited.verdict.timeNs,
                        unlimited.verdict.timeNs),
                percent(verdict.extraFlops, stepFlops));
  return text;
}

void Compare::printRow(const Row &row) const {
  char text[160];
  std::snprintf(text, sizeof(text), "| %-13s | %-26s | %15s | ",
                row.strategy.c_str(), row.setting.c_str(),
                formatCount(row.arenaBytes).c_str());
  std::cout << text << figures(row.theirs) << " | "
            << (row.ours ? figures(*row.ours) : "  no plan |        -") << " |"
            << std::endl;
}

/// Each row as soon as it is known: with many it takes minutes.
void Compare::print() {
  std::cout << "| strategy      | setting                    |     arena bytes "
               "|      time |    FLOPs |  our time | our FLOPs |\n"
               "|---|---|--:|--:|--:|--:|--:|\n";
  size_t moreTime = 0, moreFlops = 0, beaten = 0;
  for (Row &row : rows) {
    solveOurs(row);
    progress("");
    printRow(row);
    bool slower = !row.ours || row.ours->timeNs > row.theirs.timeNs;
    bool dearer = !row.ours || row.ours->extraFlops > row.theirs.extraFlops;
    bool saves = row.ours && (row.ours->timeNs < row.theirs.timeNs ||
                              row.ours->extraFlops < row.theirs.extraFlops);
    moreTime += slower;
    moreFlops += dearer;
    beaten += (slower || dearer) && !saves;
  }
  std::cout << "\nours takes more time at " << moreTime << " of " << rows.size()
            << " points, and more FLOPs at " << moreFlops
            << "; worse in one and better in none at " << beaten << "\n";
}

bool Compare::run() {
  if (!tool::readSolverOptions(arguments, options) ||
      !tool::readBareProblem(arguments.file, problem) || !chooseStrategies())
    return false;
  unlimited = solveUnlimited(problem, options);
  if (!unlimited.verdict.error.empty())
    return fail(arguments.file, unlimited.verdict.error);
  stepFlops = asWritten(problem).flops;
  for (std::string_view strategy : strategies)
    addCurve(strategy);
  print();
  return true;
}

bool tool::compareMode(const Arguments &arguments) {
  return Compare(arguments).run();
}
