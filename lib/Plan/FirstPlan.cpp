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

  /// What to keep at tight moments, and what becomes of it.
  struct Attempt {
    std::vector<Guide> guides;
    /// Without a limit otherwise.
    Schedule known;
    Schedule within;
    int64_t cost = std::numeric_limits<int64_t>::max();
  };

  void guideTo(size_t at, int64_t excess);
  void tryGuides();
  int64_t costOf(const Schedule &schedule) const;
  Draft finishBest();
  Draft finish(Schedule schedule) const;

  const Graph &graph;
  const Problem &problem;
  const int64_t budget;
  const SolverOptions &options;
  const CostWeights weights;
  JustInTime jit;
  std::optional<MomentCut> cut;
  std::vector<Guide> guides;
  /// Per guide: what its cut may keep.
  std::vector<int64_t> rooms;
  Schedule known, free;
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

/// Settles what is kept at the moment \p at, where memory is exceeded by
/// \p excess; anew with less room if it was settled before.
void FirstPlanner::guideTo(size_t at, int64_t excess) {
  size_t index = 0;
  while (index < guides.size() && guides[index].at < at)
    ++index;
  if (index < guides.size() && guides[index].at == at) {
    rooms[index] -= excess;
    guides[index].kept.clear();
  } else {
    guides.insert(guides.begin() + index, Guide{at, {}});
    rooms.insert(rooms.begin() + index, budget);
  }
  std::vector<Guide> before(guides.begin(), guides.begin() + index);
  std::vector<char> resident = jit.residentsAt(before, at);
  bool isLast = index + 1 == guides.size();
  std::vector<ValueId> nothing;
  MomentCut::Moment moment{jit.rootOrder(), at, resident,
                           isLast ? jit.rootOrder().size()
                                  : guides[index + 1].at,
                           isLast ? nothing : guides[index + 1].kept};
  guides[index].kept = cut->keep(moment, std::max<int64_t>(rooms[index], 0));
}

/// Drops more where the guides keep too much.
void FirstPlanner::tryGuides() {
  Schedule within = jit.runWithin(guides, known, budget);
  if (!within.complete || within.peakBytes > budget)
    return;
  if (int64_t cost = costOf(within); cost < best.cost)
    best = {guides, known, std::move(within), cost};
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
    best.within = jit.runWithin(best.guides, best.known, cap);
    if (best.within.peakBytes > cap)
      break;
  }
  return Draft();
}

Draft FirstPlanner::run() {
  constexpr int mostGuides = 8;
  if (!graph.error.empty())
    return Draft();
  for (int i = 0;; ++i) {
    known = jit.run(guides);
    if (!known.complete)
      break;
    free = jit.runWithin(guides, known, unlimitedBytes);
    fprintf(stderr, "%d: peak %.1f at %zu cost %.3e\n", i, free.peakBytes / 1e6,
            free.peakAt, (double)costOf(free));
    if (free.peakBytes <= budget) {
      if (int64_t cost = costOf(free); cost < best.cost)
        best = {guides, known, std::move(free), cost};
      break;
    }
    if (!guides.empty())
      tryGuides();
    if (i == mostGuides)
      break;
    if (!cut)
      cut.emplace(graph, weights);
    guideTo(free.peakAt, free.peakBytes - budget);
  }
  fprintf(stderr, "best %.1f cost %.3e\n", best.within.peakBytes / 1e6,
          (double)best.cost);
  return finishBest();
}

Draft ckpt::plan::firstPlan(const Graph &graph, int64_t budgetBytes,
                            const SolverOptions &options) {
  return FirstPlanner(graph, budgetBytes, options).run();
}
