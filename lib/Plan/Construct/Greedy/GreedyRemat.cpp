//===- GreedyRemat.cpp - Plans with remats of whole kernels ---------------===//
//
// If a budget is a little below a good plan, remats or moves of a few of its
// kernels are hard to beat. The arena under a limit on live bytes is not known
// before, and a lower limit may even need more, so many limits are tried. The
// portfolio calls it at the end of a search.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Greedy/GreedyRemat.h"

#include "Plan/Construct/Greedy/XlaRemat.h"
#include "Plan/Improve/KeepMove.h"
#include "ckpt/Plan/Pack.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

namespace {
class Repeater {
public:
  Repeater(const Problem &problem, const Plan &start, int64_t budgetBytes,
           double flopNs, Deadline deadline)
      : problem(problem), graph(problem, start), budget(budgetBytes),
        flopNs(flopNs), deadline(deadline), kernels(problem) {}

  void search(const XlaRematOptions &options);
  std::optional<Solution> best;

private:
  void tryLimit(int64_t limit, const XlaRematOptions &options);
  void enter(Plan plan);
  bool isOver() const { return deadline.isOver(); }
  bool isBetter(const Solution &solution,
                const std::optional<Solution> &than) const {
    auto scoreOf = [&](const Verdict &verdict) {
      return static_cast<double>(verdict.timeNs) +
             flopNs * static_cast<double>(verdict.extraFlops);
    };
    return !than || scoreOf(solution.verdict) < scoreOf(than->verdict);
  }

  const Problem &problem;
  const KernelGraph graph;
  const int64_t budget;
  const double flopNs;
  const Deadline deadline;
  KernelCache kernels;
  /// The best of one search.
  std::optional<Solution> found;
};
} // namespace

/// Keeps the plan for this limit if it fits and is the best.
void Repeater::tryLimit(int64_t limit, const XlaRematOptions &options) {
  Solution solution;
  solution.plan = graph.emit(rematLikeXla(graph, limit, options));
  solution.verdict = validate(problem, solution.plan, /*slots=*/false, kernels);
  if (!solution.verdict.error.empty() ||
      solution.verdict.livePeakBytes > budget)
    return;
  packSlots(problem, solution.plan, budget, PackEffort::Search, kernels,
            &deadline);
  if (solution.plan.arenaBytes > budget)
    return;
  if (isBetter(solution, found))
    found = std::move(solution);
}

/// Enters a plan, with slots, if it is the best so far.
void Repeater::enter(Plan plan) {
  Solution solution;
  packSlots(problem, plan, budget, PackEffort::Search, kernels, &deadline);
  solution.plan = std::move(plan);
  solution.verdict = validate(problem, solution.plan, /*slots=*/true, kernels);
  if (solution.verdict.error.empty() && solution.plan.arenaBytes <= budget &&
      isBetter(solution, best))
    best = std::move(solution);
}

void Repeater::search(const XlaRematOptions &options) {
  // Small steps can be looked at closely.
  constexpr size_t fewest = 8, most = 70, work = 4000;
  size_t count = std::clamp(work / graph.nodes.size(), fewest, most);
  tryLimit(budget, options);
  for (size_t i = 0; i <= count && !isOver(); ++i) {
    double share =
        0.8 + 0.7 * static_cast<double>(i) / static_cast<double>(count);
    tryLimit(static_cast<int64_t>(share * static_cast<double>(budget)),
             options);
  }
  if (!found)
    return;
  Plan plan = std::move(found->plan);
  found.reset();
  enter(plan);
  plan = withoutSlots(std::move(plan));
  keepValues(problem, plan, budget, KeepEffort::Exact, deadline);
  enter(std::move(plan));
}

std::optional<Solution> ckpt::plan::rematGreedily(const Problem &problem,
                                                  const Plan &start,
                                                  int64_t budgetBytes,
                                                  double flopNs,
                                                  Deadline deadline) {
  Repeater repeater(problem, start, budgetBytes, flopNs, deadline);
  for (size_t mostInBlock : {1, 8})
    for (bool weighTime : {true, false})
      repeater.search({mostInBlock, weighTime});
  return std::move(repeater.best);
}
