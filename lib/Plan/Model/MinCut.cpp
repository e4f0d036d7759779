//===- MinCut.cpp - Dinic's algorithm -------------------------------------===//
//
// Arcs lie in pairs, so the reverse of arc `a` is `a ^ 1`.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/MinCut.h"

#include "Plan/Model/Work.h"

#include <algorithm>

using namespace ckpt::plan;

void MinCut::reset(int32_t numNodes) {
  arcs.clear();
  first.assign(numNodes, -1);
  flow = 0;
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
  flow = 0;
}

/// Breadth-first distances from the source; false if the sink is cut off.
bool MinCut::buildLevels(int32_t source, int32_t sink) {
  level.assign(first.size(), -1);
  queue.clear();
  queue.push_back(source);
  level[source] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    int32_t node = queue[head];
    for (int32_t arc = first[node]; arc >= 0; arc = arcs[arc].next) {
      ++scanned;
      if (arcs[arc].capacity == 0 || level[arcs[arc].to] >= 0)
        continue;
      level[arcs[arc].to] = level[node] + 1;
      if (arcs[arc].to == sink)
        return true;
      queue.push_back(arcs[arc].to);
    }
  }
  return false;
}

/// Pushes flow through the level graph, path by path, depth first; after each
/// path continues from the first arc that it filled.
int64_t MinCut::augment(int32_t source, int32_t sink) {
  int64_t pushed = 0;
  path.clear();
  int32_t node = source;
  while (true) {
    if (node == sink) {
      int64_t amount = infinite;
      for (int32_t arc : path)
        amount = std::min(amount, arcs[arc].capacity);
      size_t full = path.size();
      scanned += static_cast<int64_t>(2 * path.size());
      for (size_t i = path.size(); i-- > 0;) {
        arcs[path[i]].capacity -= amount;
        arcs[path[i] ^ 1].capacity += amount;
        if (arcs[path[i]].capacity == 0)
          full = i;
      }
      pushed += amount;
      if (flow + pushed >= infinite)
        return pushed;
      node = arcs[path[full] ^ 1].to;
      path.resize(full);
    }
    int32_t &arc = cursor[node];
    ++scanned;
    while (arc >= 0 && (arcs[arc].capacity == 0 ||
                        level[arcs[arc].to] != level[node] + 1)) {
      arc = arcs[arc].next;
      ++scanned;
    }
    if (arc >= 0) {
      path.push_back(arc);
      node = arcs[arc].to;
      continue;
    }
    if (node == source)
      return pushed;
    level[node] = -2;
    node = arcs[path.back() ^ 1].to;
    path.pop_back();
  }
}

int64_t MinCut::run(int32_t source, int32_t sink) {
  scanned = static_cast<int64_t>(arcs.size() + first.size());
  while (flow < infinite && buildLevels(source, sink)) {
    cursor = first;
    flow += augment(source, sink);
  }
  Work::spend(2 * scanned);
  return flow;
}
