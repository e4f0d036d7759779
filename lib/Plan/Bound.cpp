//===- Bound.cpp - Lower bounds on extra work and on bytes ----------------===//
//
// With a price per byte, what has to be kept or recomputed when an anchor first
// runs (FirstRun.cpp) is a minimum cut, and
//
//   extra FLOPs >= cut(price) - price * (budget - what the kernel needs)
//
// for every price: a line in the budget. All of it is exact integer arithmetic;
// prices are multiples of 1 / flopScale FLOPs per byte. The same with the time
// that running an anchor again takes, on top of the least time without a limit
// (TimeBound.cpp), bounds the time.
//
//===----------------------------------------------------------------------===//

#include "FirstRun.h"
#include "TimeBound.h"
#include "ckpt/Plan/Solvers.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace ckpt::plan;

/// Sums of capacities stay below this, far from `MinCut::infinite`.
static constexpr int64_t capacityLimit = int64_t{1} << 58;

/// Products of two 64-bit figures.
__extension__ typedef __int128 Wide;

/// Nanoseconds enter the networks as multiples of 1 / timeScale; FLOPs of
/// 1 / flopScale.
static constexpr int64_t timeScale = 4096;

/// Costs of running ops again as multiples of 1 / \p scale; empty if they are
/// too large for exact arithmetic.
static std::vector<int64_t> scaleCosts(const std::vector<int64_t> &costs,
                                       int64_t scale) {
  std::vector<int64_t> scaled;
  int64_t total = 0;
  for (int64_t cost : costs) {
    if (cost > capacityLimit / scale - total)
      return {};
    total += cost;
    scaled.push_back(cost * scale);
  }
  return scaled;
}

/// What anchors that run again cost in FLOPs.
static std::vector<int64_t> repeatFlops(const Graph &graph) {
  std::vector<int64_t> flops(graph.problem.ops.size(), 0);
  for (size_t op = 0; op < flops.size(); ++op)
    if (graph.live[op] && isAnchor(graph.problem.ops[op]))
      flops[op] = graph.problem.ops[op].flops;
  return flops;
}

/// Prices in geometric steps that cover what any anchor costs per byte.
static std::vector<int64_t> choosePrices(const Graph &graph,
                                         const std::vector<int64_t> &costs,
                                         double step, size_t most) {
  const Problem &problem = graph.problem;
  if (costs.empty())
    return {};
  int64_t totalBytes = 1;
  for (size_t value = 0; value < problem.values.size(); ++value)
    totalBytes += arenaBytes(problem, static_cast<ValueId>(value));
  int64_t highest = 1;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    int64_t bytes = 0;
    for (ValueId value : problem.ops[op].results)
      bytes += arenaBytes(problem, value);
    if (bytes)
      highest = std::max(highest, costs[op] / bytes);
  }
  highest = std::min(highest * 4, capacityLimit / totalBytes);
  std::vector<int64_t> prices;
  for (double price = static_cast<double>(highest); price >= 1; price /= step)
    prices.push_back(static_cast<int64_t>(price));
  prices.resize(std::min(prices.size(), most));
  std::sort(prices.begin(), prices.end());
  prices.erase(std::unique(prices.begin(), prices.end()), prices.end());
  return prices;
}

/// Anchors to look at: those with most to keep, and some all along the step.
static std::vector<OpId>
chooseAnchors(std::vector<std::pair<int64_t, OpId>> demanded) {
  constexpr size_t tightest = 64, spread = 48;
  std::vector<OpId> chosen;
  size_t steps = std::min(spread, demanded.size());
  for (size_t i = 0; i < steps; ++i)
    chosen.push_back(demanded[i * demanded.size() / steps].second);
  std::sort(demanded.begin(), demanded.end(), [](auto &left, auto &right) {
    return left.first != right.first ? left.first > right.first
                                     : left.second < right.second;
  });
  for (size_t i = 0; i < std::min(tightest, demanded.size()); ++i)
    chosen.push_back(demanded[i].second);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

namespace {

/// Three anchors of which every plan runs `held` before `other`, or between it
/// and `later`, or after that.
struct Triple {
  OpId held, other, later;
};

} // namespace

/// Finds results that stand in memory from their kernel to the end of the step
/// (the gradient of a tied embedding) and share an operand with the start of
/// the backward pass. One moment alone does not see both the operand and the
/// result, as the plan could run the anchor at another time.
static std::vector<Triple> chooseTriples(const Graph &graph, FirstRun &moment) {
  constexpr size_t mostHeld = 4, mostLater = 3;
  const Problem &problem = graph.problem;
  auto reads = [&](OpId op, ValueId base) {
    for (const Read &read : problem.ops[op].reads)
      if (moment.baseOf(read.value) == base)
        return true;
    return false;
  };
  std::vector<char> feedsAnchor(problem.ops.size(), 0);
  std::vector<std::pair<int64_t, OpId>> held;
  for (size_t op = problem.ops.size(); op-- > 0;) {
    for (ValueId value : problem.ops[op].results)
      for (OpId user : graph.users[value])
        feedsAnchor[op] |= graph.rooted[user] || feedsAnchor[user];
    if (!graph.live[op] || feedsAnchor[op] ||
        problem.ops[op].kind != OpKind::Contraction)
      continue;
    ValueId value = problem.ops[op].results.front();
    if (graph.slot[value] > 0)
      held.emplace_back(-graph.slot[value], static_cast<OpId>(op));
  }
  std::sort(held.begin(), held.end());
  held.resize(std::min(held.size(), mostHeld));

  std::vector<Triple> triples;
  for (auto [bytes, op] : held)
    for (const Read &operand : problem.ops[op].reads) {
      ValueId base = moment.baseOf(operand.value);
      if (operand.need == Need::Inline || graph.isFree(base))
        continue;
      for (OpId other : graph.roots) {
        if (other == op || !isAnchor(problem.ops[other]) || !reads(other, base))
          continue;
        moment.enter(other);
        if (moment.hasRun(op) || moment.isFuture(op))
          continue;
        size_t found = 0;
        for (OpId later : graph.roots)
          if (found < mostLater && later != other &&
              isAnchor(problem.ops[later]) && moment.isFuture(later) &&
              !reads(later, base) &&
              problem.ops[later].kind == OpKind::Contraction) {
            triples.push_back({op, other, later});
            ++found;
          }
      }
    }
  constexpr size_t mostTriples = 24;
  triples.resize(std::min(triples.size(), mostTriples));
  return triples;
}

Bound::Bound(const Problem &problem) {
  Graph graph(problem, true);
  FirstRun moment(graph);
  // Each moment is a cut of the whole step at many prices: for very large
  // steps only what single kernels need is bounded.
  constexpr size_t mostOps = 20000, mostAnchors = 2000;
  bool isSmall = problem.ops.size() <= mostOps;
  std::optional<TimeBound> time;
  if (isSmall)
    time.emplace(graph);
  unlimitedNs = time ? time->totalNs() : 0;
  struct {
    std::vector<int64_t> costs, prices;
    std::vector<std::vector<Lines>> *groups;
  } goals[2];
  goals[0] = {scaleCosts(repeatFlops(graph), flopScale), {}, &flopGroups};
  goals[1] = {
      scaleCosts(time ? time->kernelNs() : std::vector<int64_t>(), timeScale),
      {},
      &timeGroups};
  goals[0].prices = choosePrices(graph, goals[0].costs, 1.35, 32);
  goals[1].prices = choosePrices(graph, goals[1].costs, 2, 14);
  // Adds a group with a case for each of the moments.
  auto look = [&](std::vector<BoundCase> cases) {
    for (auto &goal : goals)
      goal.groups->emplace_back();
    for (const BoundCase &it : cases) {
      moment.enter(it.anchor, it.before, it.after);
      if (!goals[1].costs.empty())
        goals[1].costs = scaleCosts(
            time->repeatNs([&](OpId op) { return moment.hasRun(op); }),
            timeScale);
      for (auto &goal : goals) {
        moment.build(goal.costs);
        Lines lines;
        for (int64_t price : goal.prices)
          lines.push_back({moment.solve(price), price, moment.kernelBytes()});
        goal.groups->back().push_back(std::move(lines));
      }
    }
    moments.push_back(std::move(cases));
  };
  auto raiseMinimum = [&](int64_t bytes, OpId anchor) {
    if (bytes > minimum)
      tightest = {anchor, none, none, 1};
    minimum = std::max(minimum, bytes);
  };

  std::vector<OpId> anchors;
  bool anyOnce = false;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    anyOnce |= graph.live[op] && graph.once[op];
    if (graph.live[op] && isAnchor(problem.ops[op]))
      anchors.push_back(static_cast<OpId>(op));
  }
  std::vector<std::pair<int64_t, OpId>> demanded;
  size_t step = (anchors.size() + mostAnchors - 1) / mostAnchors;
  for (size_t i = 0; i < anchors.size(); i += step) {
    moment.enter(anchors[i]);
    raiseMinimum(moment.kernelBytes(), anchors[i]);
    demanded.emplace_back(moment.demandedBytes(), anchors[i]);
  }
  if (!isSmall)
    return;
  for (OpId anchor : chooseAnchors(std::move(demanded))) {
    look({{anchor}});
    if (anyOnce) {
      moment.build({});
      raiseMinimum(moment.solve(1) + moment.kernelBytes(), anchor);
    }
  }
  for (const Triple &triple : chooseTriples(graph, moment))
    look({{triple.other, triple.held, none},
          {triple.held, triple.other, triple.later},
          {triple.later, none, triple.held}});
}

/// The line that says most of a budget, with what it says; none if it says
/// nothing.
std::pair<const Bound::Line *, int64_t>
Bound::bestLine(const Lines &lines, int64_t budgetBytes, int64_t scale) {
  std::pair<const Line *, int64_t> best = {nullptr, 0};
  for (const Line &line : lines) {
    Wide scaled = Wide(line.value) -
                  Wide(line.price) * (Wide(budgetBytes) - Wide(line.room));
    Wide value = std::min((scaled + scale - 1) / scale,
                          Wide(std::numeric_limits<int64_t>::max() / 2));
    if (value > best.second)
      best = {&line, static_cast<int64_t>(value)};
  }
  return best;
}

/// The group that says most of a budget, with what it says; `groups.size()` if
/// none says anything.
std::pair<size_t, int64_t>
Bound::bestGroup(const Groups &groups, int64_t budgetBytes, int64_t scale) {
  std::pair<size_t, int64_t> best = {groups.size(), 0};
  for (size_t i = 0; i < groups.size(); ++i) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (const Lines &lines : groups[i])
      least = std::min(least, bestLine(lines, budgetBytes, scale).second);
    if (least > best.second)
      best = {i, least};
  }
  return best;
}

int64_t Bound::extraFlops(int64_t budgetBytes) const {
  return bestGroup(flopGroups, budgetBytes, flopScale).second;
}

int64_t Bound::timeNs(int64_t budgetBytes) const {
  return unlimitedNs + bestGroup(timeGroups, budgetBytes, timeScale).second;
}

std::vector<BoundCase> Bound::extraFlopsCases(int64_t budgetBytes) const {
  size_t group = bestGroup(flopGroups, budgetBytes, flopScale).first;
  if (group == flopGroups.size())
    return {};
  std::vector<BoundCase> cases = moments[group];
  for (size_t i = 0; i < cases.size(); ++i)
    cases[i].price =
        bestLine(flopGroups[group][i], budgetBytes, flopScale).first->price;
  return cases;
}
