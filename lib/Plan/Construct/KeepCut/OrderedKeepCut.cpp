//===- OrderedKeepCut.cpp - The cut at one moment of an order -------------===//
//
// Collects the values that the roots after the moment demand, and the cut of
// KeepCut.h chooses which of them stay in memory.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/OrderedKeepCut.h"

#include "Plan/Construct/KeepCut/Overwrite.h"
#include "Plan/Model/Work.h"

#include <algorithm>

using namespace ckpt::plan;

/// In moves of a byte; at this price, everything that may be is computed again.
static constexpr double highestPrice = 1e6;

OrderedKeepCut::OrderedKeepCut(const RematGraph &graph,
                               const CostWeights &weights)
    : graph(graph), weights(weights),
      unit(1e6 / static_cast<double>(graph.problem.bytesPerMicrosecond)) {
  double totalBytes = 1;
  for (int64_t bytes : graph.slot)
    totalBytes += static_cast<double>(bytes);
  unitPs = std::max(1.0, totalBytes * unit * highestPrice /
                             static_cast<double>(MinCut::infinite / 4));
  again.assign(graph.problem.ops.size(), 0);
  for (size_t op = 0; op < again.size(); ++op)
    if (graph.live[op])
      again[op] = recomputePs(graph, static_cast<OpId>(op), weights);
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

/// Marks the values that roots which have run can make.
void OrderedKeepCut::findPast(const Moment &moment) {
  std::vector<char> done(graph.problem.ops.size(), 0);
  for (size_t i = 0; i < moment.at; ++i)
    done[moment.order[i]] = 1;
  past.assign(graph.problem.values.size(), 0);
  for (size_t op = 0; op < done.size(); ++op) {
    if (!graph.live[op])
      continue;
    bool made = !graph.rooted[op] || done[op];
    if (!graph.rooted[op])
      for (const Leaf &leaf : graph.leaves[op])
        made &= static_cast<bool>(past[leaf.value]);
    for (ValueId value : graph.problem.ops[op].results)
      past[value] = made && graph.node[value];
  }
}

/// Demands the existing values that the kernel of \p root reads; looks through
/// values still to come. Values in \p resident are read from memory.
void OrderedKeepCut::collectDemand(OpId root,
                                   const std::vector<char> *resident) {
  std::vector<OpId> stack = {root};
  while (!stack.empty()) {
    OpId current = stack.back();
    stack.pop_back();
    for (const Leaf &leaf : graph.leaves[current]) {
      OpId producer = graph.problem.values[leaf.value].op;
      if (isWritten(leaf.value))
        continue;
      if (past[leaf.value]) {
        demanded[leaf.value] = 1;
        if (resident)
          pinned[leaf.value] |= (*resident)[leaf.value];
      } else if (!graph.rooted[producer] && !seen[producer]) {
        seen[producer] = 1;
        stack.push_back(producer);
      }
    }
  }
}

void OrderedKeepCut::collectAllDemand(const Moment &moment) {
  demanded.assign(graph.problem.values.size(), 0);
  pinned.assign(graph.problem.values.size(), 0);
  seen.assign(graph.problem.ops.size(), 0);
  for (size_t i = moment.at + 1; i < moment.order.size(); ++i)
    collectDemand(moment.order[i], nullptr);
  demandedLater = demanded;
  seen.assign(graph.problem.ops.size(), 0);
  collectDemand(moment.order[moment.at], &moment.resident);
}

/// Everything that the demand reaches, producers first.
void OrderedKeepCut::collectNodes() {
  const Problem &problem = graph.problem;
  std::vector<char> reached = demanded;
  std::vector<char> needed(problem.ops.size(), 0);
  for (size_t op = problem.ops.size(); op-- > 0;) {
    for (ValueId value : problem.ops[op].results)
      needed[op] |= reached[value];
    if (needed[op])
      for (const Leaf &leaf : graph.leaves[op])
        reached[leaf.value] |= !isWritten(leaf.value);
  }
  nodes.clear();
  ops.clear();
  opOfNode.clear();
  nodeIndex.assign(problem.values.size(), none);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!needed[op])
      continue;
    for (ValueId value : problem.ops[op].results)
      if (reached[value]) {
        nodeIndex[value] = static_cast<int32_t>(nodes.size());
        nodes.push_back(value);
        opOfNode.push_back(static_cast<int32_t>(ops.size()));
      }
    ops.push_back(static_cast<OpId>(op));
  }
}

void OrderedKeepCut::findAvailability(const Moment &moment) {
  availability.assign(nodes.size(), Availability::Dropped);
  for (size_t i = 0; i < nodes.size(); ++i) {
    OpId op = ops[opOfNode[i]];
    bool canMake = !graph.rooted[op];
    for (const Leaf &leaf : graph.leaves[op])
      canMake &= isWritten(leaf.value) ||
                 (nodeIndex[leaf.value] != none &&
                  availability[nodeIndex[leaf.value]] != Availability::Dropped);
    if (moment.resident[nodes[i]])
      availability[i] = Availability::InMemory;
    else if (canMake)
      availability[i] = Availability::Makeable;
  }
}

void OrderedKeepCut::buildNetwork(const Moment &moment) {
  cut.reset(nodes.size(), ops.size(), unitPs);
  for (size_t i = 0; i < nodes.size(); ++i) {
    KeepCut::Value node;
    node.maker = opOfNode[i];
    node.bytes = graph.slot[nodes[i]];
    node.pricedBytes =
        static_cast<double>(node.bytes) * moment.weight[nodes[i]];
    if (availability[i] == Availability::Makeable)
      node.keepPs = writePs(graph, nodes[i]);
    node.isDemanded = demanded[nodes[i]];
    node.mayKeep = availability[i] != Availability::Dropped;
    cut.addValue(node);
  }
  for (OpId op : ops) {
    bool mayRepeat = !graph.once[op];
    for (ValueId value : graph.problem.ops[op].results)
      mayRepeat &= !pinned[value];
    cut.addMaker(again[op], mayRepeat);
    if (!mayRepeat)
      continue;
    for (const Leaf &leaf : graph.leaves[op])
      if (nodeIndex[leaf.value] != none)
        cut.addOperand(nodeIndex[leaf.value]);
  }
}

/// The cheapest answer found that fits \p room.
KeepCut::Answer OrderedKeepCut::search(int64_t room) {
  double floorPrice = weights.floorPrice * unit;
  KeepCut::Answer atFloor = cut.solveAt(floorPrice);
  if (atFloor.bytes <= room)
    return atFloor;
  KeepCut::Corner corner = cut.climb(
      atFloor, room, KeepCut::priceStep * floorPrice, highestPrice * unit);
  if (corner.fitting.bytes <= room) {
    cut.narrow(corner, room);
    cut.moveTowards(corner.fitting, corner.cheaper, room,
                    KeepCut::Filling::Greedy);
  }
  return std::move(corner.fitting);
}

/// Bytes that the kernel of \p root takes beyond its reads.
int64_t OrderedKeepCut::kernelBytes(OpId root) const {
  const Op &op = graph.problem.ops[root];
  int64_t bytes = slotBytes(op.workspaceBytes);
  if (graph.rooted[root])
    for (ValueId value : op.results)
      if (!graph.users[value].empty() &&
          !mayOverwrite(
              graph, value, [&](ValueId read) { return pinned[read] != 0; },
              [&](ValueId read) { return demandedLater[read] != 0; }))
        bytes += graph.slot[value];
  return bytes;
}

/// Equal values of equal blocks are kept or computed again all at once. With
/// the room that this leaves, keeps some of the recomputed values at even
/// distances, so that less has to be computed at once on the way back.
std::vector<ValueId> OrderedKeepCut::fillRoom(const KeepCut::Answer &answer,
                                              int64_t room) const {
  std::vector<ValueId> again;
  double bytes = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (answer.available[i] && answer.computed[opOfNode[i]] &&
        availability[i] == Availability::InMemory &&
        graph.rooted[ops[opOfNode[i]]] && graph.slot[nodes[i]] > 0) {
      again.push_back(nodes[i]);
      bytes += static_cast<double>(graph.slot[nodes[i]]);
    }
  std::vector<ValueId> kept;
  if (room <= 0 || again.empty())
    return kept;
  double mean = bytes / static_cast<double>(again.size());
  double distance = bytes * mean / (static_cast<double>(room) + mean);
  double sinceKept = 0;
  for (ValueId value : again) {
    sinceKept += static_cast<double>(graph.slot[value]);
    if (sinceKept < distance || graph.slot[value] > room)
      continue;
    kept.push_back(value);
    room -= graph.slot[value];
    sinceKept = 0;
  }
  return kept;
}

std::vector<ValueId> OrderedKeepCut::keep(const Moment &moment, int64_t room) {
  findPast(moment);
  collectAllDemand(moment);
  collectNodes();
  findAvailability(moment);
  buildNetwork(moment);
  room -= kernelBytes(moment.order[moment.at]);
  Work::spend(10 * static_cast<int64_t>(graph.problem.ops.size() +
                                        moment.order.size()) +
              200 * static_cast<int64_t>(nodes.size()));
  KeepCut::Answer answer = search(room);
  std::vector<ValueId> kept = fillRoom(answer, room - answer.bytes);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (cut.isKept(answer, i))
      kept.push_back(nodes[i]);
  return kept;
}
