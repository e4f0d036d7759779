//===- RepeatKernels.cpp - Plans that repeat kernels of a plan ------------===//
//
// Where a budget is a little below a good plan, repeating or moving a few of
// its kernels is hard to beat. What a limit on live bytes makes of the arena is
// not known before, and a lower limit may even need more, so many are tried.
//
//===----------------------------------------------------------------------===//

#include "Walk.h"
#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Pack.h"

#include <algorithm>

using namespace ckpt::plan;

/// The repeats of \p plan: kernels all of whose outputs stood in memory before.
static std::vector<size_t> findRepeats(const Problem &problem,
                                       const Plan &plan) {
  std::vector<char> written(problem.values.size(), 0);
  std::vector<size_t> repeats;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    bool again = true;
    for (ValueId value : plan.kernels[k].outputs)
      again &= written[value] != 0;
    for (ValueId value : plan.kernels[k].outputs)
      written[value] = 1;
    if (again)
      repeats.push_back(k);
  }
  return repeats;
}

bool ckpt::plan::dropRepeats(const Problem &problem, Plan &plan,
                             int64_t budgetBytes) {
  // Kernels in all simulations: half a second.
  constexpr size_t mostSimulated = 500000;
  std::vector<size_t> repeats = findRepeats(problem, plan);
  KernelCache kernels(problem);
  std::vector<int64_t> timeNs;
  for (const Kernel &kernel : plan.kernels)
    timeNs.push_back(kernels.get(kernel).timeNs);
  std::stable_sort(repeats.begin(), repeats.end(),
                   [&](size_t a, size_t b) { return timeNs[a] > timeNs[b]; });
  repeats.resize(
      std::min(repeats.size(),
               mostSimulated / std::max<size_t>(1, plan.kernels.size())));
  std::vector<char> gone(plan.kernels.size(), 0);
  auto without = [&] {
    Plan rest;
    for (size_t k = 0; k < plan.kernels.size(); ++k)
      if (!gone[k])
        rest.kernels.push_back(plan.kernels[k]);
    return rest;
  };
  for (size_t repeat : repeats) {
    gone[repeat] = 1;
    Verdict verdict = validate(problem, without(), /*slots=*/false, kernels);
    gone[repeat] =
        verdict.error.empty() && verdict.livePeakBytes <= budgetBytes;
  }
  plan = without();
  return plan.kernels.size() < gone.size();
}

namespace {
class Repeater {
public:
  Repeater(const Problem &problem, const Plan &start, int64_t budgetBytes,
           double flopNs)
      : problem(problem), graph(problem, start), budget(budgetBytes),
        flopNs(flopNs) {}

  void search(const WalkOptions &options);
  std::optional<Solution> best;

private:
  void tryLimit(int64_t limit, const WalkOptions &options);
  void enter(Plan plan);
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
  /// The best of one search.
  std::optional<Solution> found;
};
} // namespace

/// Keeps the plan for this limit if it fits and is the best.
void Repeater::tryLimit(int64_t limit, const WalkOptions &options) {
  Solution solution;
  solution.plan = graph.emit(walk(graph, limit, options));
  solution.verdict = validate(problem, solution.plan, /*slots=*/false);
  if (!solution.verdict.error.empty() ||
      solution.verdict.livePeakBytes > budget)
    return;
  packSlots(problem, solution.plan, budget);
  if (solution.plan.arenaBytes > budget)
    return;
  if (isBetter(solution, found))
    found = std::move(solution);
}

/// Enters a plan, with slots, if it is the best so far.
void Repeater::enter(Plan plan) {
  Solution solution;
  packSlots(problem, plan, budget);
  solution.plan = std::move(plan);
  solution.verdict = validate(problem, solution.plan, /*slots=*/true);
  if (solution.verdict.error.empty() && solution.plan.arenaBytes <= budget &&
      isBetter(solution, best))
    best = std::move(solution);
}

void Repeater::search(const WalkOptions &options) {
  // Small steps can be looked at closely.
  constexpr size_t fewest = 8, most = 70, work = 4000;
  size_t count = std::clamp(work / graph.nodes.size(), fewest, most);
  tryLimit(budget, options);
  for (size_t i = 0; i <= count; ++i) {
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
  dropRepeats(problem, plan, budget);
  enter(std::move(plan));
}

std::optional<Solution> ckpt::plan::repeatKernels(const Problem &problem,
                                                  const Plan &start,
                                                  int64_t budgetBytes,
                                                  double flopNs) {
  Repeater repeater(problem, start, budgetBytes, flopNs);
  for (size_t mostInBlock : {1, 8})
    for (bool weighTime : {true, false})
      repeater.search({mostInBlock, weighTime});
  return std::move(repeater.best);
}
