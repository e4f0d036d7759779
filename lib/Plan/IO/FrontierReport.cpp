//===- FrontierReport.cpp - The curve as a table and as JSON --------------===//
//
// Prints a frontier for `frontier=N` of `--ckpt-plan` and `ckpt-plan`.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Frontier.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

using namespace ckpt::plan;

double Frontier::nsPerMiB(size_t point) const {
  const Solution &here = points[point].solution;
  for (size_t i = point + 1; i < points.size(); ++i) {
    const Solution &larger = points[i].solution;
    int64_t bytes = larger.plan.arenaBytes - here.plan.arenaBytes;
    if (bytes > 0)
      return static_cast<double>(here.verdict.timeNs - larger.verdict.timeNs) *
             (1 << 20) / static_cast<double>(bytes);
  }
  return 0;
}

static std::string number(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

static std::string column(const std::string &text, size_t width = 14) {
  return std::string(width > text.size() ? width - text.size() : 1, ' ') + text;
}

static std::string percent(int64_t part, int64_t whole) {
  double hundredths =
      std::round(1e4 * static_cast<double>(part) /
                 static_cast<double>(std::max<int64_t>(1, whole)));
  // The sum turns a negative zero into one that people expect.
  return number(hundredths / 100 + 0.0, 2) + " %";
}

void ckpt::plan::printFrontier(const Frontier &frontier,
                               const std::string &title, std::ostream &os) {
  const Solution &baseline = frontier.baseline;
  os << "ckpt: " << title << ", " << frontier.points.size()
     << " budgets planned in " << frontier.planningMs << " ms\n\n"
     << "  as written " << formatBytes(frontier.written.peakBytes)
     << "; baseline " << formatBytes(baseline.plan.arenaBytes) << " in "
     << number(static_cast<double>(baseline.verdict.timeNs) / 1e6, 3)
     << " ms; no plan does with less than "
     << formatBytes(frontier.minimumBoundBytes) << "\n\n"
     << column("budget") << column("arena") << column("time")
     << column("extra time", 12) << column("at least", 10)
     << column("extra work", 12) << column("at least", 10)
     << column("ms per MiB", 12) << "  made by\n";
  for (size_t i = 0; i < frontier.points.size(); ++i) {
    const FrontierPoint &point = frontier.points[i];
    const Verdict &verdict = point.solution.verdict;
    os << column(formatBytes(point.budgetBytes))
       << column(formatBytes(point.solution.plan.arenaBytes))
       << column(number(static_cast<double>(verdict.timeNs) / 1e6, 3) + " ms")
       << column(percent(verdict.timeNs - baseline.verdict.timeNs,
                         baseline.verdict.timeNs),
                 12)
       << column(point.timeBoundNs == 0
                     ? "none"
                     : percent(point.timeBoundNs - baseline.verdict.timeNs,
                               baseline.verdict.timeNs),
                 10)
       << column(percent(verdict.extraFlops, frontier.written.flops), 12)
       << column(percent(point.extraFlopsBound, frontier.written.flops), 10)
       << column(number(frontier.nsPerMiB(i) / 1e6, 4), 12) << "  "
       << point.solution.subSolver << "\n";
  }
  os << "\n  at least: of any plan within the budget, proven;"
        "\n  ms per MiB: saved by more memory, up to the next larger arena"
        "\n  made by: the sub-solver of the planner that found the plan\n";
}

void ckpt::plan::printFrontierJson(const Frontier &frontier, std::ostream &os) {
  const Solution &baseline = frontier.baseline;
  os << "{\n"
     << "  \"written_peak_bytes\": " << frontier.written.peakBytes << ",\n"
     << "  \"flops\": " << frontier.written.flops << ",\n"
     << "  \"baseline_peak_bytes\": " << baseline.plan.arenaBytes << ",\n"
     << "  \"baseline_cost_ns\": " << baseline.verdict.timeNs << ",\n"
     << "  \"minimum_budget_bound_bytes\": " << frontier.minimumBoundBytes
     << ",\n"
     << "  \"planning_ms\": " << frontier.planningMs << ",\n"
     << "  \"points\": [";
  for (size_t i = 0; i < frontier.points.size(); ++i) {
    const FrontierPoint &point = frontier.points[i];
    const Solution &solution = point.solution;
    os << (i == 0 ? "\n" : ",\n")
       << "    {\"budget_bytes\": " << point.budgetBytes
       << ", \"peak_bytes\": " << solution.plan.arenaBytes
       << ", \"cost_ns\": " << solution.verdict.timeNs
       << ", \"extra_flops\": " << solution.verdict.extraFlops
       << ", \"extra_flops_bound\": " << point.extraFlopsBound
       << ", \"cost_bound_ns\": " << point.timeBoundNs
       << ", \"bytes_moved\": " << solution.verdict.bytesMoved
       << ", \"kernels\": " << solution.plan.kernels.size()
       << ", \"saved_ns_per_mib\": " << number(frontier.nsPerMiB(i), 1)
       << ", \"sub_solver\": \"" << solution.subSolver << "\"}";
  }
  os << (frontier.points.empty() ? "" : "\n  ") << "]\n}\n";
}
