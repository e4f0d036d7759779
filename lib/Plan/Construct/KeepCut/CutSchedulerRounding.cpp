//===- CutSchedulerRounding.cpp - From two cuts to one that fits ----------===//
//
// The price of a byte gives answers at its corners only: one that is too large
// and one that leaves room. In models of equal blocks these are far apart. What
// they differ in falls apart into independent components: a knapsack.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutScheduler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ckpt::plan;

namespace {

struct Component {
  int32_t id;
  int64_t bytes;
  double saving;
};

} // namespace

/// The components of largest saving whose bytes sum up to at most \p room:
/// those that take nothing, then a knapsack on a grid (sizes rounded up, so
/// that the answer fits), then what still fits, best saving per byte first.
static std::vector<int32_t> chooseComponents(std::vector<Component> components,
                                             int64_t room) {
  constexpr int64_t gridSteps = 1024;
  std::vector<int32_t> chosen;
  std::sort(components.begin(), components.end(),
            [](const Component &a, const Component &b) {
              double left =
                  a.saving * static_cast<double>(std::max<int64_t>(b.bytes, 1));
              double right =
                  b.saving * static_cast<double>(std::max<int64_t>(a.bytes, 1));
              return left != right ? left > right : a.id < b.id;
            });
  std::vector<Component> items;
  for (const Component &component : components)
    if (component.bytes <= 0) {
      chosen.push_back(component.id);
      room -= component.bytes;
    }
  for (const Component &component : components)
    if (component.bytes > 0 && component.bytes <= room)
      items.push_back(component);
  if (room <= 0 || items.empty())
    return chosen;
  int64_t step = (room + gridSteps - 1) / gridSteps;
  size_t columns = static_cast<size_t>(room / step) + 1;
  std::vector<double> best(columns, 0);
  std::vector<char> taken(items.size() * columns, 0);
  for (size_t i = 0; i < items.size(); ++i) {
    size_t size = static_cast<size_t>((items[i].bytes + step - 1) / step);
    for (size_t column = columns; column-- > size;)
      if (best[column - size] + items[i].saving > best[column]) {
        best[column] = best[column - size] + items[i].saving;
        taken[i * columns + column] = 1;
      }
  }
  std::vector<char> inside(items.size(), 0);
  size_t column = columns - 1;
  for (size_t i = items.size(); i-- > 0;)
    if (taken[i * columns + column]) {
      inside[i] = 1;
      column -= static_cast<size_t>((items[i].bytes + step - 1) / step);
      room -= items[i].bytes;
    }
  for (size_t i = 0; i < items.size(); ++i) {
    if (!inside[i] && items[i].bytes <= room) {
      inside[i] = 1;
      room -= items[i].bytes;
    }
    if (inside[i])
      chosen.push_back(items[i].id);
  }
  return chosen;
}

/// Moves connected differences between two labelings towards the cheaper one,
/// those that fit and save most. Both labelings obey all infinite arcs, and so
/// does every mix of whole components.
void CutScheduler::moveBack(Labels &labels, const Labels &cheaper,
                            int64_t room) const {
  int32_t numNodes = static_cast<int32_t>(nodes.size());
  size_t total = nodes.size() + opNodes.size();
  std::vector<int32_t> parent(total);
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](int32_t x) {
    while (parent[x] != x)
      x = parent[x] = parent[parent[x]];
    return x;
  };
  auto changed = [&](int32_t x) {
    return x < numNodes ? labels.available[x] != cheaper.available[x]
                        : labels.computed[x - numNodes] !=
                              cheaper.computed[x - numNodes];
  };
  auto join = [&](int32_t x, int32_t y) {
    if (changed(x) && changed(y))
      parent[find(x)] = find(y);
  };
  for (int32_t i = 0; i < numNodes; ++i)
    join(i, opIndex[graph.problem.values[nodes[i]].op] - 2);
  for (OpId op : opNodes)
    for (const Leaf &leaf : graph.leaves[op])
      if (nodeStamp[leaf.value] == stamp)
        join(opIndex[op] - 2, nodeIndex[leaf.value]);

  std::vector<int64_t> bytes(total, 0);
  std::vector<double> saving(total, 0);
  for (int32_t i = 0; i < numNodes; ++i) {
    int32_t op = opIndex[graph.problem.values[nodes[i]].op] - 2;
    if (!changed(i) && !changed(op))
      continue;
    int32_t component = find(changed(i) ? i : op);
    bool before = labels.available[i] && !labels.computed[op - numNodes];
    bool after = cheaper.available[i] && !cheaper.computed[op - numNodes];
    bytes[component] += (after - before) * graph.slot[nodes[i]];
    saving[component] -= (after - before) * keepCost(nodes[i]);
  }
  for (size_t i = 0; i < opNodes.size(); ++i) {
    int32_t x = numNodes + static_cast<int32_t>(i);
    if (changed(x))
      saving[find(x)] += (labels.computed[i] ? 1.0 : -1.0) *
                         static_cast<double>(again[opNodes[i]]);
  }
  std::vector<Component> components;
  for (int32_t x = 0; x < static_cast<int32_t>(total); ++x)
    if (parent[x] == x && changed(x) && saving[x] > 0)
      components.push_back({x, bytes[x], saving[x]});
  std::vector<char> take(total, 0);
  for (int32_t component : chooseComponents(components, room - labels.bytes))
    take[component] = 1;
  for (int32_t x = 0; x < static_cast<int32_t>(total); ++x)
    if (changed(x) && take[find(x)]) {
      if (x < numNodes)
        labels.available[x] = cheaper.available[x];
      else
        labels.computed[x - numNodes] = cheaper.computed[x - numNodes];
    }
  evaluate(labels);
}

/// Between two answers lie gaps that the next large value does not fit. Asks
/// once more for the rest of the room, where what is kept costs nothing and
/// what is larger than the rest cannot be kept.
void CutScheduler::fill(Labels &labels, int64_t room) {
  int64_t rest = room - labels.bytes;
  double unit = pricePerByte();
  if (rest <= 0 || !labels.feasible)
    return;
  int32_t base = 2 + static_cast<int32_t>(nodes.size());
  std::vector<int64_t> charged(nodes.size(), 0);
  bool any = false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    OpId op = graph.problem.values[nodes[i]].op;
    bool kept = labels.available[i] && !labels.computed[opIndex[op] - base];
    int64_t slot = graph.slot[nodes[i]];
    charged[i] = kept ? 0 : slot > rest ? -1 : slot;
    any |= charged[i] > 0 && availability[i] != Availability::dropped;
  }
  if (!any)
    return;
  forgetPrices();
  double charge = 0; // of a byte, so far
  for (double price = std::max(options.floorPrice, 0.25); price < 1e4;
       price *= 4) {
    double more = price - charge;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (keepArc[i] >= 0 && (charged[i] >= 0 || charge == 0))
        cut.raise(
            keepArc[i],
            charged[i] < 0
                ? MinCut::infinite
                : std::llround(more * unit * static_cast<double>(charged[i])));
    charge = price;
    Labels next = readLabels(price);
    if (!next.feasible)
      return;
    if (next.bytes <= room) {
      if (next.cost < labels.cost)
        labels = std::move(next);
      return;
    }
  }
}
