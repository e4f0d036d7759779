//===- GuideLoop.cpp - Rounds of guides -----------------------------------===//
//
// Alternates cuts at tight moments and schedules without a limit until the
// budget holds. QuickPlan runs two loops, one per way of relief; a round takes
// time near-linear in the ops.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/List/GuideLoop.h"

#include "Plan/Construct/KeepCut/CutScheduler.h"
#include "Plan/Improve/KeepMove.h"

#include <algorithm>

using namespace ckpt::plan;

/// Whether \p cost is at most that much above \p other.
static bool isNear(int64_t cost, int64_t other) {
  constexpr double share = 0.01;
  return static_cast<double>(cost) < (1 + share) * static_cast<double>(other);
}

/// Time, roughly: remats of anchors, bytes, launches. As in the search for the
/// best plan, repeated work counts more than its time.
int64_t GuideLoop::costOf(const Plan &plan) {
  constexpr int64_t repeatWeight = 3;
  const Problem &problem = graph.problem;
  std::vector<char> ran(problem.ops.size(), 0);
  int64_t bytes = 0, repeatedPs = 0;
  for (const Kernel &kernel : plan.kernels) {
    for (ValueId value : kernels.get(kernel).memoryReads)
      bytes += problem.values[value].bytes;
    for (ValueId value : kernel.outputs)
      bytes += problem.values[value].bytes;
    for (OpId op : kernel.ops) {
      if (isAnchor(problem.ops[op]) && ran[op])
        repeatedPs += problem.ops[op].computePs;
      ran[op] = 1;
    }
  }
  int64_t launches = static_cast<int64_t>(plan.kernels.size());
  return repeatWeight * repeatedPs + graph.movePs(bytes) +
         launches * problem.launchNs * 1000;
}

/// Enters \p plan among the best, without remats of values that there is room
/// to keep: a schedule drops more than it has to. Returns its cost.
int64_t GuideLoop::enter(Plan plan) {
  const size_t mostFound = isTooLargeToWalk(graph) ? 1 : 2;
  keepValues(graph.problem, plan, budget, KeepEffort::Quick, kernels);
  int64_t cost = costOf(plan);
  auto place = std::lower_bound(
      all.begin(), all.end(), cost,
      [](const Found &other, int64_t cost) { return other.cost < cost; });
  if (place == all.end() || place->cost != cost)
    all.insert(place, {std::move(plan), cost, false});
  if (all.size() > mostFound)
    all.pop_back();
  return cost;
}

/// Schedules \p attempt within the budget; returns the cost.
int64_t GuideLoop::schedule(Attempt &attempt) {
  // Slots of many values leave small gaps.
  constexpr size_t mostRoots = 1000;
  Schedule within = scheduler.runWithin(attempt.guides, *attempt.known, budget);
  if (!within.complete)
    return unlimitedBytes;
  if (graph.roots.size() <= mostRoots)
    if (int64_t cost = costOf(within.plan); cost < loose.cost)
      loose = {within.plan, cost, true};
  return enter(std::move(within.plan));
}

/// Remembers \p attempt if it leads to a plan and few do to better ones.
void GuideLoop::tryOut(Attempt attempt) {
  constexpr size_t mostAttempts = 3;
  attempt.cost = schedule(attempt);
  if (attempt.cost == unlimitedBytes)
    return;
  auto place = std::upper_bound(
      attempts.begin(), attempts.end(), attempt.cost,
      [](int64_t cost, const Attempt &other) { return cost < other.cost; });
  attempts.insert(place, std::move(attempt));
  if (attempts.size() > mostAttempts)
    attempts.pop_back();
}

/// One cut per moment from the changed one on, each after the values that the
/// guides before it leave in memory; false if the guides keep the same values.
bool GuideLoop::chooseGuides() {
  ListScheduler::Guides guides(state.guides.begin(),
                               state.guides.begin() + state.changed);
  for (size_t i = state.changed; i < state.moments.size(); ++i) {
    auto [at, room] = state.moments[i];
    std::vector<char> resident = scheduler.residentsAt(guides, at);
    guides.push_back(
        {at, cut.keep({scheduler.rootOrder(), at, resident, state.weight},
                      std::max<int64_t>(room, 0))});
  }
  auto isSame = [](const ListScheduler::Guide &left,
                   const ListScheduler::Guide &right) {
    return left.at == right.at && left.kept == right.kept;
  };
  bool areSame = std::equal(guides.begin(), guides.end(), state.guides.begin(),
                            state.guides.end(), isSame);
  state.guides = std::move(guides);
  return !areSame;
}

/// Runs the guides, and drops more where they keep too much. Whether better
/// ones might pay off.
bool GuideLoop::tryGuides() {
  constexpr double hardlyBetter = 0.98;
  auto known = std::make_shared<const Schedule>(scheduler.run(state.guides));
  if (!known->complete)
    return false;
  int64_t before = cost();
  tryOut({state.guides, known});
  bool isBetter = !found() || static_cast<double>(cost()) <
                                  hardlyBetter * static_cast<double>(before);
  state.inVain = isBetter ? 0 : state.inVain + 1;
  state.formerBytes = state.peakBytes;
  state.formerAt = state.peakAt;
  state.known = known;
  state.peakBytes = known->peakBytes;
  state.peakAt = known->peakAt;
  state.isSettled =
      state.peakBytes <= budget || isNear(cost(), costOf(known->plan));
  return !state.isSettled;
}

/// The schedule exceeds the budget somewhere: there, guides have to keep less.
/// If that was tried in vain, remats on the way back take the room.
void GuideLoop::relieve() {
  // Guides of large steps take long: few of them, in larger strides.
  const double factor = isTooLargeToWalk(graph) ? 2.25 : 1.5;
  constexpr double noBetter = 0.99;
  constexpr int64_t leastShare = 200;
  int64_t excess = state.peakBytes - budget;
  std::vector<Moment> &moments = state.moments;
  if (relief == Relief::Guides) {
    auto here = std::lower_bound(
        moments.begin(), moments.end(), state.peakAt,
        [](const Moment &moment, size_t at) { return moment.at < at; });
    state.changed = here - moments.begin();
    if (here == moments.end() || here->at != state.peakAt)
      moments.insert(here, {state.peakAt, budget});
    else
      here->room -= std::max(excess, budget / leastShare);
    return;
  }
  bool inVain = state.peakAt == state.formerAt &&
                static_cast<double>(state.peakBytes) >
                    noBetter * static_cast<double>(state.formerBytes);
  const ListScheduler::Guide &guide = state.guides.front();
  if (state.peakAt == guide.at || inVain)
    moments.front().room -= inVain ? excess / 2 : excess;
  else
    for (ValueId value :
         scheduler.keptAcross(guide, *state.known, state.peakAt))
      state.weight[value] *= factor;
}

bool GuideLoop::doRound() {
  constexpr int mostRounds = 8;
  // Guides of large steps take long.
  constexpr size_t manyRoots = 50000, someRoots = 500;
  const int mostInVain = graph.roots.size() > manyRoots   ? 1
                         : isTooLargeToWalk(graph)        ? 2
                         : graph.roots.size() > someRoots ? 3
                                                          : 4;
  if (state.isSame) {
    // It takes more until the cut changes.
    int64_t &room = state.moments[state.changed].room;
    room -= (state.peakBytes - budget) << (state.rounds - 1);
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

/// Forgets all findings, for another budget.
void GuideLoop::clear(int64_t budgetBytes) {
  budget = budgetBytes;
  all.clear();
  loose = Found();
  attempts.clear();
}

void GuideLoop::startFree(std::shared_ptr<const Schedule> free,
                          int64_t budgetBytes) {
  clear(budgetBytes);
  tryOut({{}, std::move(free)});
}

bool GuideLoop::start(std::shared_ptr<const Schedule> free,
                      int64_t budgetBytes) {
  state = State();
  clear(budgetBytes);
  state.known = free;
  state.moments = {{free->peakAt, budgetBytes}};
  state.weight.assign(graph.problem.values.size(), 1);
  state.peakBytes = free->peakBytes;
  state.peakAt = free->peakAt;
  return doRound();
}

bool GuideLoop::tighten(int64_t budgetBytes) {
  budget = budgetBytes;
  all.clear();
  loose = Found();
  for (Attempt &attempt : attempts)
    schedule(attempt);
  return found();
}
