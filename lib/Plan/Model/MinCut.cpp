//===- MinCut.cpp - Push-relabel from the sink to the source --------------===//
//
// Arcs lie in pairs, so the reverse of arc `a` is `a ^ 1`.
//
// The sink asks all its arcs for as much flow as they carry. A node that was
// asked has a deficit, which it passes on to neighbours nearer to the source.
// The run ends when no node with a deficit can reach the source: the nodes that
// can reach along residual arcs are the smallest source side. Deficits inside
// stay, so that a run after capacities rose continues with them.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/MinCut.h"

#include "Plan/Model/Work.h"

#include <algorithm>

using namespace ckpt::plan;

void MinCut::reset(int32_t numNodes) {
  arcs.clear();
  first.assign(numNodes, -1);
  deficit.assign(numNodes, 0);
}

int32_t MinCut::addArc(int32_t from, int32_t to, int64_t capacity) {
  int32_t index = static_cast<int32_t>(arcs.size());
  arcs.push_back({to, first[from], capacity});
  first[from] = index;
  arcs.push_back({from, first[to], 0});
  first[to] = index + 1;
  return index;
}

void MinCut::raise(int32_t arc, int64_t amount) {
  arcs[arc].capacity += amount;
}

void MinCut::forgetFlow() {
  for (size_t arc = 0; arc < arcs.size(); arc += 2) {
    arcs[arc].capacity += arcs[arc + 1].capacity;
    arcs[arc + 1].capacity = 0;
  }
  deficit.assign(first.size(), 0);
}

void MinCut::save(State &state) const {
  state.arcs = arcs;
  state.deficit = deficit;
}

void MinCut::restore(const State &state) {
  arcs = state.arcs;
  deficit = state.deficit;
}

/// Sends more flow through \p arc: its end has less of a deficit, its begin
/// more.
void MinCut::pull(int32_t arc, int64_t amount) {
  arcs[arc].capacity -= amount;
  arcs[arc ^ 1].capacity += amount;
  deficit[arcs[arc].to] -= amount;
  deficit[arcs[arc ^ 1].to] += amount;
}

void MinCut::enter(int32_t node) {
  Layer &layer = layers[distance[node]];
  previous[node] = -1;
  next[node] = layer.node;
  if (layer.node >= 0)
    previous[layer.node] = node;
  layer.node = node;
  farthest = std::max(farthest, distance[node]);
}

void MinCut::leave(int32_t node) {
  if (previous[node] >= 0)
    next[previous[node]] = next[node];
  else
    layers[distance[node]].node = next[node];
  if (next[node] >= 0)
    previous[next[node]] = previous[node];
}

/// Exact distances, by breadth-first search.
void MinCut::measure(int32_t source, int32_t sink) {
  const int32_t numNodes = static_cast<int32_t>(first.size());
  distance.assign(numNodes, numNodes);
  layers.assign(numNodes, Layer());
  cursor = first;
  highestActive = -1;
  farthest = 0;
  relabelled = 0;
  queue.assign(1, source);
  distance[source] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    int32_t node = queue[head];
    for (int32_t arc = first[node]; arc >= 0; arc = arcs[arc].next) {
      ++scanned;
      int32_t to = arcs[arc].to;
      if (arcs[arc].capacity == 0 || distance[to] < numNodes || to == sink)
        continue;
      distance[to] = distance[node] + 1;
      queue.push_back(to);
      enter(to);
      if (deficit[to] > 0) {
        nextActive[to] = layers[distance[to]].active;
        layers[distance[to]].active = to;
        highestActive = distance[to];
      }
    }
  }
}

/// No path leads from the layers from \p from on to the source.
void MinCut::cutOff(int32_t from) {
  for (int32_t at = from; at <= farthest; ++at) {
    for (int32_t node = layers[at].node; node >= 0; node = next[node])
      distance[node] = static_cast<int32_t>(first.size());
    layers[at] = Layer();
  }
  farthest = from - 1;
}

void MinCut::relabel(int32_t node) {
  const int32_t numNodes = static_cast<int32_t>(first.size());
  const int32_t old = distance[node];
  leave(node);
  if (layers[old].node < 0) {
    cutOff(old);
    distance[node] = numNodes;
    return;
  }
  int32_t nearest = numNodes - 1;
  for (int32_t arc = first[node]; arc >= 0; arc = arcs[arc].next) {
    ++relabelled;
    if (arcs[arc ^ 1].capacity > 0 && distance[arcs[arc].to] < nearest) {
      nearest = distance[arcs[arc].to];
      cursor[node] = arc;
    }
  }
  distance[node] = nearest + 1;
  if (distance[node] < numNodes)
    enter(node);
}

/// Passes the deficit of \p node on, or finds that no path is left.
void MinCut::discharge(int32_t node, int32_t source) {
  const int32_t numNodes = static_cast<int32_t>(first.size());
  while (distance[node] < numNodes) {
    for (int32_t &arc = cursor[node]; arc >= 0; arc = arcs[arc].next) {
      ++scanned;
      int32_t to = arcs[arc].to;
      int64_t capacity = arcs[arc ^ 1].capacity;
      if (capacity == 0 || distance[to] != distance[node] - 1)
        continue;
      if (deficit[to] == 0 && to != source) {
        nextActive[to] = layers[distance[to]].active;
        layers[distance[to]].active = to;
        highestActive = std::max(highestActive, distance[to]);
      }
      pull(arc ^ 1, deficit[node] < capacity
                        ? static_cast<int64_t>(deficit[node])
                        : capacity);
      if (deficit[node] == 0)
        return;
    }
    relabel(node);
  }
}

int64_t MinCut::run(int32_t source, int32_t sink) {
  scanned = 0;
  next.resize(first.size());
  previous.resize(first.size());
  nextActive.resize(first.size());
  for (int32_t arc = first[sink]; arc >= 0; arc = arcs[arc].next)
    if (arcs[arc ^ 1].capacity > 0)
      pull(arc ^ 1, arcs[arc ^ 1].capacity);
  while (true) {
    measure(source, sink);
    if (highestActive < 0 || deficit[source] >= infinite)
      break;
    while (highestActive >= 0 &&
           relabelled < static_cast<int64_t>(arcs.size())) {
      int32_t node = layers[highestActive].active;
      if (node < 0) {
        --highestActive;
        continue;
      }
      layers[highestActive].active = nextActive[node];
      discharge(node, source);
    }
    scanned += relabelled;
  }
  Work::spend(2 * (scanned + static_cast<int64_t>(first.size())));
  return deficit[source] < infinite ? static_cast<int64_t>(deficit[source])
                                    : infinite;
}

/// Takes the flow back that left a node and never came to it, in an order in
/// which all flow into a node is final before the node is looked at.
void MinCut::returnDeficits(int32_t source, int32_t sink) {
  while (true) {
    std::vector<int32_t> path, order;
    std::vector<char> seen(first.size(), 0);
    seen[source] = seen[sink] = 1;
    cursor = first;
    for (size_t start = 0; start < first.size(); ++start) {
      if (seen[start] || deficit[start] <= 0)
        continue;
      seen[start] = 1;
      path.push_back(static_cast<int32_t>(start));
      while (!path.empty()) {
        int32_t &arc = cursor[path.back()];
        while (arc >= 0 &&
               ((arc & 1) || flowOn(arc) == 0 || seen[arcs[arc].to]))
          arc = arcs[arc].next;
        if (arc < 0) {
          order.push_back(path.back());
          path.pop_back();
          continue;
        }
        seen[arcs[arc].to] = 1;
        path.push_back(arcs[arc].to);
      }
    }
    if (order.empty())
      return;
    for (size_t i = order.size(); i-- > 0;)
      for (int32_t arc = first[order[i]]; arc >= 0; arc = arcs[arc].next)
        if (!(arc & 1) && deficit[order[i]] > 0)
          pull(arc ^ 1, static_cast<int64_t>(
                            std::min<Wide>(flowOn(arc), deficit[order[i]])));
  }
}
