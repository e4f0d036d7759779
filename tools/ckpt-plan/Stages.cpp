//===- Stages.cpp - The time up to the first plan -------------------------===//
//
// Elapsed time of each stage up to the first plan, and its quality, as one
// `key value` per line: scripts/benchmark-scale makes a table of them.
//
//===----------------------------------------------------------------------===//

#include "Tool.h"

#include <chrono>
#include <iostream>
#include <sys/resource.h>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

namespace {

/// Prints the time since the last call.
class Stages {
public:
  void end(const char *stage) {
    auto now = Clock::now();
    auto us =
        std::chrono::duration_cast<std::chrono::microseconds>(now - before);
    print(std::string(stage) + "_us", us.count());
    before = now;
  }
  static void print(const std::string &key, int64_t value) {
    std::cout << key << " " << value << "\n";
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point before = Clock::now();
};

int64_t peakMemoryBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{1024} * usage.ru_maxrss;
}

} // namespace

bool tool::stagesMode(const Arguments &arguments) {
  std::optional<Budget> budget;
  Problem problem;
  Stages stages;
  if (!readBudget(arguments, budget) ||
      !readBareProblem(arguments.file, problem))
    return false;
  if (!budget)
    return fail("ckpt-plan", "'--stages' needs --budget");
  stages.end("read");
  std::optional<Solution> baseline =
      solveFirst(problem, INT64_MAX, SolverOptions());
  stages.end("baseline");
  if (!baseline)
    return fail(arguments.file, "no plan was found without a limit");
  int64_t bytes = budget->resolve(baseline->plan.arenaBytes);
  std::optional<Solution> first = solveFirst(problem, bytes, SolverOptions());
  stages.end("first_plan");
  int64_t flops = 0;
  for (const Op &op : problem.ops)
    flops += op.flops;
  stages.print("ops", static_cast<int64_t>(problem.ops.size()));
  stages.print("flops", flops);
  stages.print("baseline_bytes", baseline->plan.arenaBytes);
  stages.print("baseline_ns", baseline->verdict.timeNs);
  stages.print("budget_bytes", bytes);
  stages.print("peak_memory_bytes", peakMemoryBytes());
  stages.print("found", first.has_value());
  if (!first)
    return true;
  stages.print("arena_bytes", first->plan.arenaBytes);
  stages.print("live_bytes", first->verdict.livePeakBytes);
  stages.print("time_ns", first->verdict.timeNs);
  stages.print("extra_flops", first->verdict.extraFlops);
  // The bounds look at every anchor; beyond this that takes too long here.
  constexpr size_t mostBoundedOps = 12000;
  if (problem.ops.size() <= mostBoundedOps)
    stages.print("extra_flops_bound", Bound(problem).extraFlops(bytes));
  return true;
}
