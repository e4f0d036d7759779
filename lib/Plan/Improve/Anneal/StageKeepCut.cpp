//===- StageKeepCut.cpp - The cut before one stage ------------------------===//

#include "Plan/Improve/Anneal/StageKeepCut.h"

#include <algorithm>

using namespace ckpt::plan;

/// Picoseconds of a kernel that runs again.
static int64_t againPs(const KernelNode &node) { return 1000 * node.timeNs; }

StageKeepCut::StageKeepCut(const KernelGraph &graph) : graph(graph) {
  for (const KernelNode &node : graph.nodes)
    totalPs += againPs(node);
}

/// The values of earlier stages that later stages demand, and the values from
/// which these are made.
void StageKeepCut::collect(const Retention &state, int32_t stage) {
  demanded.assign(graph.maker.size(), 0);
  pinned.assign(graph.maker.size(), 0);
  for (int32_t t = stage + 1; t < state.stages(); ++t)
    for (ValueId value : graph.nodes[t].reads)
      demanded[value] |= graph.maker[value] < stage;
  for (ValueId value : graph.nodes[stage].reads)
    pinned[value] = 1;
  reached = demanded;
  nodes.clear();
  makers.clear();
  makerIndex.assign(graph.nodes.size(), none);
  nodeIndex.assign(graph.maker.size(), none);
  for (int32_t node = stage; node-- > 0;) {
    for (ValueId value : graph.nodes[node].kernel.outputs) {
      if (!reached[value])
        continue;
      if (makerIndex[node] == none) {
        makerIndex[node] = static_cast<int32_t>(makers.size());
        makers.push_back(node);
      }
      nodeIndex[value] = static_cast<int32_t>(nodes.size());
      nodes.push_back(value);
    }
    if (makerIndex[node] != none)
      for (ValueId value : graph.nodes[node].reads)
        reached[value] = 1;
  }
}

/// Picoseconds per byte at which no value is kept that may be made again.
double StageKeepCut::highestPrice() const {
  int64_t leastBytes = std::numeric_limits<int64_t>::max();
  for (ValueId value : nodes)
    if (int64_t bytes = graph.slot(value); bytes > 0)
      leastBytes = std::min(leastBytes, bytes);
  return static_cast<double>(totalPs) / static_cast<double>(leastBytes);
}

void StageKeepCut::buildNetwork(const Retention &state, int32_t stage) {
  constexpr double largest = 0x1p57;
  double total = static_cast<double>(totalPs);
  for (ValueId value : nodes)
    total += highestPrice() * static_cast<double>(graph.slot(value));
  cut.reset(nodes.size(), makers.size(), total / largest);
  for (ValueId value : nodes) {
    KeepCut::Value node;
    node.maker = makerIndex[graph.maker[value]];
    node.bytes = pinned[value] ? 0 : graph.slot(value);
    node.pricedBytes = static_cast<double>(node.bytes);
    node.isDemanded = demanded[value];
    node.mayKeep = pinned[value] || state.isKept(value, stage);
    cut.addValue(node);
  }
  for (int32_t maker : makers) {
    const KernelNode &node = graph.nodes[maker];
    cut.addMaker(againPs(node), node.mayRepeat);
    if (!node.mayRepeat)
      continue;
    for (ValueId read : node.reads)
      cut.addOperand(nodeIndex[read]);
  }
}

void StageKeepCut::apply(Retention &state, int32_t stage, int64_t bytes) {
  constexpr int mostCuts = 30;
  collect(state, stage);
  int64_t room = bytes - graph.nodes[stage].workspaceBytes;
  for (ValueId value : graph.nodes[stage].kernel.outputs)
    room -= graph.slot(value);
  for (ValueId value : graph.nodes[stage].reads)
    room -= graph.slot(value);
  buildNetwork(state, stage);
  KeepCut::Answer answer = cut.solveAt(0);
  if (answer.bytes > room) {
    double price = highestPrice();
    KeepCut::Corner corner = cut.climb(answer, room, price, price);
    cut.narrow(corner, room, mostCuts);
    answer = std::move(corner.fitting);
  }
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!cut.isKept(answer, i) && !pinned[nodes[i]] &&
        state.isKept(nodes[i], stage))
      state.drop(nodes[i], stage);
}
