//===- FirstPlan.cpp - One cut, a few schedules ---------------------------===//
//
// A run without a limit shows the tightest moment. The cut there leaves out the
// room that recomputation takes on the way back, so a few sizes of a reserve
// for it are tried, and the schedule of least time is finished.
//
//===----------------------------------------------------------------------===//

#include "FirstPlan.h"

#include "JustInTime.h"
#include "PostPasses.h"
#include "RootOrder.h"

#include <algorithm>
#include <limits>

using namespace ckpt::plan;

namespace {

class FirstPlanner {
public:
  FirstPlanner(const Graph &graph, int64_t budgetBytes,
               const SolverOptions &options)
      : graph(graph), problem(graph.problem), budget(budgetBytes),
        options(options), weights(),
        jit(graph, orderRoots(graph, options.reorder), weights) {}

  Draft run();

private:
  using Schedule = JustInTime::Schedule;

  int64_t tryRoom(MomentCut &cut, size_t at, int64_t room);
  int64_t costOf(const Schedule &schedule) const;
  Draft finish(Schedule schedule) const;

  const Graph &graph;
  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  const CostWeights weights;
  JustInTime jit;
  Schedule best;
  int64_t bestCost = std::numeric_limits<int64_t>::max();
};

} // namespace

/// Time, roughly: what anchors repeat, bytes, launches.
int64_t FirstPlanner::costOf(const Schedule &schedule) const {
  std::vector<char> ran(problem.ops.size(), 0);
  int64_t bytes = 0, repeatedPs = 0;
  for (ValueId value : schedule.reads)
    bytes += problem.values[value].bytes;
  for (const Kernel &kernel : schedule.plan.kernels) {
    for (ValueId value : kernel.outputs)
      bytes += problem.values[value].bytes;
    for (OpId op : kernel.ops) {
      if (isAnchor(problem.ops[op]) && ran[op])
        repeatedPs += problem.ops[op].computePs;
      ran[op] = 1;
    }
  }
  int64_t launches = static_cast<int64_t>(schedule.plan.kernels.size());
  return 3 * repeatedPs + graph.movePs(bytes) +
         launches * problem.launchNs * 1000;
}

/// Plans with what the cut keeps of \p room. Returns by how much that exceeds
/// the budget if nothing else is dropped.
int64_t FirstPlanner::tryRoom(MomentCut &cut, size_t at, int64_t room) {
  JustInTime::Guide guide = {at, cut.keep(jit.rootOrder(), at, room)};
  Schedule known = jit.run(guide);
  if (!known.complete)
    return 0;
  Schedule within = jit.runWithin(guide, known, budget);
  if (within.complete && within.peakBytes <= budget) {
    int64_t cost = costOf(within);
    if (cost < bestCost) {
      bestCost = cost;
      best = std::move(within);
    }
  }
  constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 4;
  return jit.runWithin(guide, known, unlimited).peakBytes - budget;
}

Draft FirstPlanner::finish(Schedule schedule) const {
  Draft draft;
  draft.plan = std::move(schedule.plan);
  if (draft.plan.kernels.empty())
    return draft;
  draft.verdict =
      improve(problem, draft.plan, budget == INT64_MAX ? 0 : budget);
  if (!draft.verdict.error.empty())
    draft.plan = Plan();
  return draft;
}

Draft FirstPlanner::run() {
  constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 4;
  if (!graph.error.empty())
    return Draft();
  Schedule known = jit.run({});
  Schedule free = jit.runWithin({}, known, unlimited);
  if (!free.complete || free.peakBytes <= budget)
    return finish(free.complete ? std::move(free) : Schedule());
  MomentCut cut(graph, weights);
  size_t at = free.peakAt;
  int64_t excess = tryRoom(cut, at, budget);
  if (excess > 0)
    for (int64_t reserve : {excess / 2, excess})
      tryRoom(cut, at, std::max<int64_t>(0, budget - reserve));
  return finish(std::move(best));
}

Draft ckpt::plan::firstPlan(const Graph &graph, int64_t budgetBytes,
                            const SolverOptions &options) {
  return FirstPlanner(graph, budgetBytes, options).run();
}
