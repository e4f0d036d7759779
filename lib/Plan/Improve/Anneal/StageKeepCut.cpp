//===- StageKeepCut.cpp - What to keep into one stage ---------------------===//

#include "Plan/Improve/Anneal/StageKeepCut.h"

#include <cmath>

using namespace ckpt::plan;

StageKeepCut::StageKeepCut(const KernelGraph &graph)
    : graph(graph), values(static_cast<int32_t>(graph.maker.size())) {}

/// What later stages need of what was made before, and what that is made from.
void StageKeepCut::collect(const Retention &state, int32_t stage) {
  demanded.assign(values, 0);
  pinned.assign(values, 0);
  int32_t count = state.stages();
  for (int32_t t = stage + 1; t < count; ++t)
    for (ValueId value : graph.nodes[t].reads)
      demanded[value] |= graph.maker[value] < stage;
  for (ValueId value : graph.nodes[stage].reads)
    pinned[value] = 1;
  reached = demanded;
  for (int32_t node = stage; node-- > 0;) {
    bool needed = false;
    for (ValueId value : graph.nodes[node].kernel.outputs)
      needed |= reached[value] != 0;
    if (needed)
      for (ValueId value : graph.nodes[node].reads)
        reached[value] = 1;
  }
}

StageKeepCut::Answer StageKeepCut::solve(const Retention &state, double price) {
  constexpr int32_t source = 0, sink = 1;
  constexpr double largest = 0x1p57;
  auto nodes = static_cast<int32_t>(graph.nodes.size());
  auto available = [&](ValueId value) { return 2 + nodes + value; };
  double total = 1;
  for (const KernelNode &node : graph.nodes)
    total += static_cast<double>(node.timeNs);
  for (ValueId value = 0; value < values; ++value)
    if (reached[value])
      total += price * static_cast<double>(graph.slot(value));
  double scale = largest / total;
  auto capacity = [&](double ns) { return std::llround(ns * scale); };
  cut.reset(2 + nodes + values);
  std::vector<char> added(nodes, 0);
  for (ValueId value = 0; value < values; ++value) {
    if (!reached[value])
      continue;
    int32_t node = graph.maker[value];
    if (demanded[value])
      cut.addArc(source, available(value), MinCut::infinite);
    bool keepable = pinned[value] || state.isKept(value, stageNow);
    double keep =
        pinned[value] ? 0 : price * static_cast<double>(graph.slot(value));
    cut.addArc(available(value), 2 + node,
               keepable ? capacity(keep) : MinCut::infinite);
    if (added[node])
      continue;
    added[node] = 1;
    if (!graph.nodes[node].mayRepeat) {
      cut.addArc(2 + node, sink, MinCut::infinite);
      continue;
    }
    cut.addArc(2 + node, sink,
               capacity(static_cast<double>(graph.nodes[node].timeNs)));
    for (ValueId read : graph.nodes[node].reads)
      cut.addArc(2 + node, available(read), MinCut::infinite);
  }
  cut.run(source, sink);
  Answer answer;
  std::vector<char> counted(nodes, 0);
  for (ValueId value = 0; value < values; ++value) {
    int32_t node = graph.maker[value];
    if (!reached[value])
      continue;
    if (cut.onSourceSide(2 + node) && !counted[node]) {
      counted[node] = 1;
      answer.costNs += static_cast<double>(graph.nodes[node].timeNs);
    }
    bool kept =
        cut.onSourceSide(available(value)) && !cut.onSourceSide(2 + node);
    if (kept && !pinned[value])
      answer.bytes += static_cast<double>(graph.slot(value));
    if (!kept && !pinned[value] && state.isKept(value, stageNow))
      answer.dropped.push_back(value);
  }
  return answer;
}

void StageKeepCut::apply(Retention &state, int32_t stage, int64_t bytes) {
  constexpr int mostCuts = 30;
  stageNow = stage;
  collect(state, stage);
  int64_t fixed = graph.nodes[stage].workspaceBytes;
  for (ValueId value : graph.nodes[stage].kernel.outputs)
    fixed += graph.slot(value);
  for (ValueId value : graph.nodes[stage].reads)
    fixed += graph.slot(value);
  double room = static_cast<double>(bytes - fixed);
  double total = 1;
  for (const KernelNode &node : graph.nodes)
    total += static_cast<double>(node.timeNs);
  Answer loose = solve(state, 0);
  Answer tight = solve(state, total);
  if (loose.bytes <= room)
    tight = loose;
  for (int i = 0; i < mostCuts && loose.bytes > tight.bytes; ++i) {
    double price = (tight.costNs - loose.costNs) / (loose.bytes - tight.bytes);
    Answer next = solve(state, price);
    if (next.bytes >= loose.bytes || next.bytes <= tight.bytes)
      break;
    (next.bytes > room ? loose : tight) = std::move(next);
  }
  for (ValueId value : tight.dropped)
    if (state.isKept(value, stage))
      state.drop(value, stage);
}
