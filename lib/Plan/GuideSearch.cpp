//===- GuideSearch.cpp - Rounds of guides ---------------------------------===//

#include "GuideSearch.h"

#include "FirstPlan.h"

#include <algorithm>

using namespace ckpt::plan;

/// Whether \p cost is at most that much above \p other.
static bool isNear(int64_t cost, int64_t other, double share = 0.01) {
  return static_cast<double>(cost) < (1 + share) * static_cast<double>(other);
}

/// Time, roughly: what anchors repeat, bytes, launches. As in the search for
/// the best plan, repeated work counts more than its time.
int64_t GuideSearch::costOf(const Schedule &schedule) const {
  constexpr int64_t repeatWeight = 3;
  const Problem &problem = graph.problem;
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

/// One cut per moment from the changed one on, each after what the guides
/// before it leave in memory; false if they keep what they kept.
bool GuideSearch::chooseGuides() {
  JustInTime::Guides guides(state.guides.begin(),
                            state.guides.begin() + state.changed);
  for (size_t i = state.changed; i < state.moments.size(); ++i) {
    auto [at, room] = state.moments[i];
    std::vector<char> resident = jit.residentsAt(guides, at);
    guides.push_back(
        {at, cut.keep({jit.rootOrder(), at, resident, state.weight},
                      std::max<int64_t>(room, 0))});
  }
  auto isSame = [](const JustInTime::Guide &left,
                   const JustInTime::Guide &right) {
    return left.at == right.at && left.kept == right.kept;
  };
  bool areSame = std::equal(guides.begin(), guides.end(), state.guides.begin(),
                            state.guides.end(), isSame);
  state.guides = std::move(guides);
  return !areSame;
}

/// Runs the guides, and drops more where they keep too much. Whether better
/// ones might pay off.
bool GuideSearch::tryGuides() {
  constexpr double hardlyBetter = 0.98;
  state.known = jit.run(state.guides);
  if (!state.known.complete)
    return false;
  Schedule within = jit.runWithin(state.guides, state.known, state.budget);
  int64_t before = cost();
  if (within.complete)
    if (int64_t cost = costOf(within); cost < before)
      state.best = {state.guides, state.known, std::move(within), cost};
  bool isBetter = !found() || static_cast<double>(cost()) <
                                  hardlyBetter * static_cast<double>(before);
  state.inVain = isBetter ? 0 : state.inVain + 1;
  state.formerBytes = state.peakBytes;
  state.formerAt = state.peakAt;
  state.peakBytes = state.known.peakBytes;
  state.peakAt = state.known.peakAt;
  state.isSettled =
      state.peakBytes <= state.budget || isNear(cost(), costOf(state.known));
  return !state.isSettled;
}

/// The schedule exceeds the budget somewhere: there, less has to be kept. If
/// that was tried in vain, it is what is made again on the way back that takes
/// the room.
void GuideSearch::relieve() {
  // Guides of large steps take long: few of them, in larger strides.
  const double factor = isTooLargeToWalk(graph) ? 2.25 : 1.5;
  constexpr double noBetter = 0.99;
  constexpr int64_t leastShare = 200;
  int64_t excess = state.peakBytes - state.budget;
  std::vector<Moment> &moments = state.moments;
  if (relief == Relief::Guides) {
    auto here = std::lower_bound(
        moments.begin(), moments.end(), state.peakAt,
        [](const Moment &moment, size_t at) { return moment.at < at; });
    state.changed = here - moments.begin();
    if (here == moments.end() || here->at != state.peakAt)
      moments.insert(here, {state.peakAt, state.budget});
    else
      here->room -= std::max(excess, state.budget / leastShare);
    return;
  }
  bool inVain = state.peakAt == state.formerAt &&
                static_cast<double>(state.peakBytes) >
                    noBetter * static_cast<double>(state.formerBytes);
  const JustInTime::Guide &guide = state.guides.front();
  if (state.peakAt == guide.at || inVain)
    moments.front().room -= inVain ? excess / 2 : excess;
  else
    for (ValueId value : jit.keptAcross(guide, state.known, state.peakAt))
      state.weight[value] *= factor;
}

bool GuideSearch::doRound() {
  constexpr int mostRounds = 8;
  // Guides of large steps take long.
  constexpr size_t manyRoots = 50000, someRoots = 500;
  const int mostInVain = graph.roots.size() > manyRoots   ? 1
                         : isTooLargeToWalk(graph)        ? 2
                         : graph.roots.size() > someRoots ? 4
                                                          : mostRounds;
  if (state.isSame) {
    // It takes more until the cut changes.
    int64_t &room = state.moments[state.changed].room;
    room -= (state.peakBytes - state.budget) << (state.rounds - 1);
    if (room <= 0)
      return false;
  } else if (state.rounds > 0) {
    relieve();
  }
  state.isSame = !chooseGuides();
  if (state.isSame)
    state.inVain += found();
  else if (!tryGuides())
    return false;
  return ++state.rounds < mostRounds && state.inVain < mostInVain;
}

bool GuideSearch::start(const Schedule &free, int64_t budgetBytes) {
  state = State();
  state.budget = budgetBytes;
  state.known = free;
  state.moments = {{free.peakAt, budgetBytes}};
  state.weight.assign(graph.problem.values.size(), 1);
  state.peakBytes = free.peakBytes;
  state.peakAt = free.peakAt;
  return doRound();
}

bool GuideSearch::tighten(int64_t budgetBytes) {
  constexpr int mostCaps = 2;
  constexpr double near = 0.15;
  Attempt &best = state.best;
  int64_t before = best.cost, less = state.budget - budgetBytes;
  best.cost = unlimitedBytes;
  best.within = Schedule();
  for (int i = 0; i < mostCaps && !isNear(best.cost, before, near); ++i) {
    int64_t cap = budgetBytes - budgetBytes / 100 * i;
    Schedule within = runBest(cap);
    if (!within.complete || costOf(within) >= best.cost)
      continue;
    best.cost = costOf(within);
    best.within = std::move(within);
  }
  state.budget = budgetBytes;
  if (relief == Relief::Guides && !isNear(best.cost, before, near)) {
    for (Moment &moment : state.moments)
      moment.room -= less;
    state.changed = 0;
    chooseGuides();
    tryGuides();
  }
  return isNear(best.cost, before, near);
}
