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
  using Guide = JustInTime::Guide;
  using Schedule = JustInTime::Schedule;

  /// What to keep at the tightest moment, and what becomes of it.
  struct Attempt {
    Guide guide;
    /// Without a limit otherwise.
    Schedule known;
    Schedule within;
    int64_t cost = std::numeric_limits<int64_t>::max();
  };

  int64_t tryRoom(MomentCut &cut, size_t at, int64_t room);
  int64_t costOf(const Schedule &schedule) const;
  Draft finishBest();
  Draft finish(Schedule schedule) const;

  const Graph &graph;
  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  const CostWeights weights;
  JustInTime jit;
  Attempt best;
};

} // namespace

/// A limit that is none, with room for sums.
static constexpr int64_t unlimitedBytes =
    std::numeric_limits<int64_t>::max() / 4;

/// Time, roughly: what anchors repeat, bytes, launches. As in the search for
/// the best plan, repeated work counts more than its time.
int64_t FirstPlanner::costOf(const Schedule &schedule) const {
  constexpr int64_t repeatWeight = 3;
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
  return repeatWeight * repeatedPs + graph.movePs(bytes) +
         launches * problem.launchNs * 1000;
}

/// Plans with what the cut keeps of \p room. Returns by how much that exceeds
/// the budget if nothing else is dropped.
int64_t FirstPlanner::tryRoom(MomentCut &cut, size_t at, int64_t room) {
  Attempt attempt;
  attempt.guide = {at, cut.keep(jit.rootOrder(), at, room)};
  attempt.known = jit.run(attempt.guide);
  if (!attempt.known.complete)
    return 0;
  attempt.within = jit.runWithin(attempt.guide, attempt.known, budget);
  int64_t excess =
      jit.runWithin(attempt.guide, attempt.known, unlimitedBytes).peakBytes -
      budget;
  if (attempt.within.complete && attempt.within.peakBytes <= budget) {
    attempt.cost = costOf(attempt.within);
    if (attempt.cost < best.cost)
      best = std::move(attempt);
  }
  return excess;
}

Draft FirstPlanner::finish(Schedule schedule) const {
  Draft draft;
  draft.plan = std::move(schedule.plan);
  if (!schedule.complete)
    return Draft();
  draft.verdict =
      improve(problem, draft.plan, budget < unlimitedBytes ? budget : 0);
  if (!draft.verdict.error.empty())
    draft.plan = Plan();
  return draft;
}

/// The schedule takes some outputs to be written over inputs that the rules of
/// kernels do not allow; then it needs less room than it is allowed.
Draft FirstPlanner::finishBest() {
  constexpr int mostTries = 4;
  int64_t cap = budget;
  for (int i = 0; i < mostTries; ++i) {
    Draft draft = finish(std::move(best.within));
    if (!draft.usable() || draft.verdict.livePeakBytes <= budget)
      return draft;
    cap -= draft.verdict.livePeakBytes - budget;
    best.within = jit.runWithin(best.guide, best.known, cap);
    if (best.within.peakBytes > cap)
      break;
  }
  return Draft();
}

Draft FirstPlanner::run() {
  if (!graph.error.empty())
    return Draft();
  Schedule known = jit.run({});
  Schedule free = jit.runWithin({}, known, unlimitedBytes);
  if (!free.complete)
    return Draft();
  size_t at = free.peakAt;
  if (free.peakBytes <= budget) {
    Draft draft = finish(std::move(free));
    if (draft.verdict.livePeakBytes <= budget)
      return draft;
  }
  MomentCut cut(graph, weights);
  int64_t excess = tryRoom(cut, at, budget);
  if (excess > 0)
    for (int64_t reserve : {excess / 2, excess})
      tryRoom(cut, at, std::max<int64_t>(0, budget - reserve));
  return finishBest();
}

Draft ckpt::plan::firstPlan(const Graph &graph, int64_t budgetBytes,
                            const SolverOptions &options) {
  return FirstPlanner(graph, budgetBytes, options).run();
}
