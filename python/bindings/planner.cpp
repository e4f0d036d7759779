//===- planner.cpp - The planner as a Python module -----------------------===//
//
// ckpt/planner.py calls this module: text of a problem in, a plan and its
// figures out, in the process of the caller. The GIL is free while the planner
// searches, and a signal ends the search (Watch.h).
//
//===----------------------------------------------------------------------===//

#include "Watch.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Donation.h"
#include "ckpt/Plan/Explain.h"
#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/Text.h"
#include "ckpt/Report/Measure.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>

namespace nb = nanobind;
using namespace ckpt;
using namespace ckpt::plan;

namespace {

/// A problem that plans, bounds and explanations refer to.
class PlanningProblem {
public:
  PlanningProblem(const std::string &text, bool hostsResults) {
    std::string error;
    if (!parseProblem(text, problem, error))
      throw nb::value_error(error.c_str());
    if (hostsResults)
      hostInResults(problem);
    if (std::string fault = check(problem); !fault.empty())
      throw nb::value_error(fault.c_str());
  }
  Problem problem;
};

/// A plan and the simulator's figures for it.
struct PlannedStep {
  Solution solution;
  /// The plan fits the budget; without one, it always does.
  bool fits = true;

  std::vector<std::pair<std::vector<OpId>, std::vector<ValueId>>>
  kernels() const {
    std::vector<std::pair<std::vector<OpId>, std::vector<ValueId>>> all;
    for (const Kernel &kernel : solution.plan.kernels)
      all.emplace_back(kernel.ops, kernel.outputs);
    return all;
  }
  std::string text() const {
    std::ostringstream os;
    printPlan(solution.plan, os);
    return os.str();
  }
};

PlannedStep checked(Solution solution, bool fits) {
  if (!solution.verdict.error.empty())
    throw nb::value_error(solution.verdict.error.c_str());
  return {std::move(solution), fits};
}

SolverOptions limitedBy(int64_t timeLimitMs, int64_t effortMs) {
  SolverOptions options;
  options.timeLimitMs = timeLimitMs;
  options.effortMs = effortMs;
  options.beginLimit();
  return options;
}

/// Without a budget, the plan that recomputes nothing.
struct Found {
  Solution unlimited;
  BudgetResult within;
};

PlannedStep solve(const PlanningProblem &of, std::optional<int64_t> budgetBytes,
                  int64_t timeLimitMs, int64_t effortMs,
                  const Progress &progress) {
  auto search = [&](const SolverOptions &options) {
    Found found;
    found.unlimited = solveUnlimited(of.problem, options);
    if (budgetBytes && !options.isInterrupted())
      found.within =
          solveBudget(of.problem, *budgetBytes, options, &found.unlimited);
    return found;
  };
  auto [unlimited, found] =
      watched(limitedBy(timeLimitMs, effortMs), progress, search);
  bool fits = !budgetBytes || found.best.has_value();
  Solution best = !budgetBytes ? std::move(unlimited)
                  : fits       ? std::move(*found.best)
                               : std::move(found.smallest);
  constexpr int64_t noLimit = int64_t(1) << 60;
  int64_t limitBytes =
      fits ? budgetBytes.value_or(noLimit) : best.plan.arenaBytes;
  if (best.verdict.error.empty())
    best = moveForDonations(of.problem, std::move(best), limitBytes);
  return checked(std::move(best), fits);
}

std::vector<PlannedStep> frontier(const PlanningProblem &of, int32_t points,
                                  int64_t timeLimitMs,
                                  const Progress &progress) {
  Frontier curve = watched(limitedBy(timeLimitMs, 0), progress,
                           [&](const SolverOptions &options) {
                             return solveFrontier(of.problem, points, options);
                           });
  if (!curve.error.empty())
    throw nb::value_error(curve.error.c_str());
  std::vector<PlannedStep> steps;
  for (FrontierPoint &point : curve.points)
    steps.push_back({std::move(point.solution), true});
  return steps;
}

/// Reads a plan that `PlannedStep.text` wrote; the simulator judges it again.
PlannedStep readPlan(const PlanningProblem &of, const std::string &text) {
  PlannedStep step;
  std::string error;
  if (!parsePlan(text, of.problem, step.solution.plan, error))
    throw nb::value_error(error.c_str());
  step.solution.verdict =
      validate(of.problem, step.solution.plan, /*slots=*/true);
  return checked(std::move(step.solution), true);
}

/// Asks the bounds of a problem. A signal alone ends the proof.
template <typename Ask>
int64_t bounded(const PlanningProblem &of, BoundScope scope, Ask ask) {
  return watched(limitedBy(0, 0), nb::none(),
                 [&](const SolverOptions &options) {
                   return ask(Bound(of.problem, options, scope));
                 });
}

/// The report of a plan (docs/Report.md) in the format that the end of \p path
/// names. The plan without a limit, to compare with, is made here.
std::string writeReport(const PlanningProblem &of, const PlannedStep &step,
                        std::optional<int64_t> budgetBytes,
                        const std::string &title, const std::string &path) {
  nb::gil_scoped_release released;
  report::ProblemFigures given;
  given.budgetBytes = budgetBytes.value_or(-1);
  report::StepReport made = report::reportProblem(
      of.problem, step.solution, solveUnlimited(of.problem, SolverOptions()),
      Bound(of.problem), given);
  made.text.title = title;
  made.text.strategy = budgetBytes
                           ? "budget, " + formatBytes(*budgetBytes)
                           : "none, nothing that stands in memory recomputed";
  std::ostringstream os;
  report::write(made, report::formatOf(path), os);
  return os.str();
}

/// The values that stand in the arena at the peak: number, bytes and a sentence
/// on the reason; -1 is scratch memory of the kernel at the peak.
std::vector<std::tuple<ValueId, int64_t, std::string>>
atPeak(const PlanningProblem &of, const PlannedStep &step) {
  std::vector<std::tuple<ValueId, int64_t, std::string>> all;
  for (const HeldAtPeak &held :
       explainPeak(of.problem, step.solution.plan, step.solution.verdict))
    all.emplace_back(held.value, held.bytes, describe(of.problem, held));
  return all;
}

} // namespace

NB_MODULE(_planner, module) {
  // Caches of frameworks keep plans until the process ends, which is no leak.
  nb::set_leak_warnings(false);
  nb::class_<PlanningProblem>(module, "PlanningProblem")
      .def(nb::init<const std::string &, bool>(), nb::arg("text"),
           nb::arg("hosts_results") = false)
      .def("minimum_bytes_bound",
           [](const PlanningProblem &of) {
             return bounded(of, BoundScope::MinimumBytes,
                            std::mem_fn(&Bound::minimumBytes));
           })
      .def("extra_flops_bound",
           [](const PlanningProblem &of, int64_t bytes) {
             return bounded(
                 of, BoundScope::ExtraFlops,
                 [&](const Bound &bound) { return bound.extraFlops(bytes); });
           })
      .def_prop_ro(
          "flops",
          [](const PlanningProblem &of) { return asWritten(of.problem).flops; })
      .def_prop_ro("ops", [](const PlanningProblem &of) {
        return of.problem.ops.size();
      });
  nb::class_<PlannedStep>(module, "PlannedStep")
      .def_prop_ro("kernels", &PlannedStep::kernels)
      .def_prop_ro("text", &PlannedStep::text)
      .def_ro("fits", &PlannedStep::fits)
      .def_prop_ro(
          "arena_bytes",
          [](const PlannedStep &step) { return step.solution.plan.arenaBytes; })
      .def_prop_ro(
          "time_ns",
          [](const PlannedStep &step) { return step.solution.verdict.timeNs; })
      .def_prop_ro("extra_flops", [](const PlannedStep &step) {
        return step.solution.verdict.extraFlops;
      });
  module.def("solve", &solve, nb::arg("problem"),
             nb::arg("budget_bytes").none(), nb::arg("time_limit_ms"),
             nb::arg("effort_ms") = 0, nb::arg("progress").none() = nb::none());
  module.def("frontier", &frontier, nb::arg("problem"), nb::arg("points"),
             nb::arg("time_limit_ms"), nb::arg("progress").none() = nb::none());
  module.def("read_plan", &readPlan, nb::arg("problem"), nb::arg("text"));
  module.def("write_report", &writeReport, nb::arg("problem"), nb::arg("step"),
             nb::arg("budget_bytes").none(), nb::arg("title"), nb::arg("path"));
  module.def("at_peak", &atPeak, nb::arg("problem"), nb::arg("step"));
}
