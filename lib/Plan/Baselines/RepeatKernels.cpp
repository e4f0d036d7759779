//===- RepeatKernels.cpp - Plans that repeat kernels of a plan ------------===//
//
// Where a budget is a little below a good plan, repeating or moving a few of
// its kernels is hard to beat. What a limit on live bytes makes of the arena is
// not known before, so the limit is bisected.
//
//===----------------------------------------------------------------------===//

#include "Walk.h"
#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Pack.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {
class Repeater {
public:
  Repeater(const Problem &problem, const Plan &start, int64_t budgetBytes)
      : problem(problem), graph(problem, start), budget(budgetBytes) {}

  void search(const WalkOptions &options);
  std::optional<Solution> best;

private:
  bool tryLimit(int64_t limit, const WalkOptions &options);

  const Problem &problem;
  const KernelGraph graph;
  const int64_t budget;
};
} // namespace

/// Whether the plan for this limit fits.
bool Repeater::tryLimit(int64_t limit, const WalkOptions &options) {
  Solution solution;
  solution.plan = graph.emit(walk(graph, limit, options));
  solution.verdict = validate(problem, solution.plan, /*slots=*/false);
  if (!solution.verdict.error.empty() ||
      solution.verdict.livePeakBytes > budget)
    return false;
  packSlots(problem, solution.plan, budget);
  if (solution.plan.arenaBytes > budget)
    return false;
  solution.verdict = validate(problem, solution.plan, /*slots=*/true);
  if (solution.verdict.error.empty() &&
      (!best || solution.verdict.timeNs < best->verdict.timeNs))
    best = std::move(solution);
  return true;
}

void Repeater::search(const WalkOptions &options) {
  constexpr int steps = 6;
  int64_t low = budget - budget / 5, high = budget + budget / 2;
  for (int step = 0; step < steps; ++step) {
    int64_t limit = step == 0 ? budget : low + (high - low) / 2;
    (tryLimit(limit, options) ? low : high) = limit;
  }
}

std::optional<Solution> ckpt::plan::repeatKernels(const Problem &problem,
                                                  const Plan &start,
                                                  int64_t budgetBytes) {
  Repeater repeater(problem, start, budgetBytes);
  for (size_t mostInBlock : {1, 8})
    for (bool weighTime : {true, false})
      repeater.search({mostInBlock, weighTime});
  return std::move(repeater.best);
}
