//===- CutSchedulerNetwork.cpp - The costs of a snapshot ------------------===//
//
// Fills the network of KeepCut.h with the costs of the current snapshot and
// looks for the price per byte at which the kept values fit.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutScheduler.h"
#include "Plan/Construct/KeepCut/OrderedKeepCut.h"

#include <algorithm>

using namespace ckpt::plan;

int64_t CutScheduler::againPs(OpId op) const {
  CostWeights weights;
  weights.contractionWeight = options.contractionWeight;
  weights.readWeight = options.readWeight;
  return recomputePs(graph, op, weights);
}

/// Time that keeping a value costs beside its bytes: writing it, and a fine if
/// it was written and dropped before, which stops writing it over and over.
double CutScheduler::keepPs(size_t node) const {
  if (availability[node] != Availability::makeable)
    return 0;
  ValueId value = nodes[node];
  double write = graph.memoryRead[value] ? 1.2 : 1.5;
  return static_cast<double>(graph.movePs(graph.problem.values[value].bytes)) *
         (write + 3.0 * drops[value]);
}

/// Whether \p op cannot run later: it runs once, or some result of it is pinned
/// and none was dropped.
bool CutScheduler::isFinal(OpId op) const {
  bool isPinned = false, isDropped = false;
  for (ValueId value : graph.problem.ops[op].results)
    if (nodeStamp[value] == stamp) {
      isPinned |= pinStamp[value] == stamp;
      isDropped |= availability[nodeIndex[value]] == Availability::dropped;
    }
  return (isPinned && !isDropped) || runsOnce(op) ||
         (graph.rooted[op] && !options.repeatAnchors && !recomputed(op));
}

void CutScheduler::buildNetwork() {
  cut.reset(nodes.size(), opNodes.size());
  for (size_t i = 0; i < opNodes.size(); ++i)
    opIndex[opNodes[i]] = static_cast<int32_t>(i);
  for (size_t i = 0; i < nodes.size(); ++i) {
    ValueId value = nodes[i];
    KeepCut::Value node;
    node.maker = opIndex[graph.problem.values[value].op];
    node.bytes = graph.slot[value];
    node.pricedBytes = static_cast<double>(node.bytes);
    node.keepPs = keepPs(i);
    node.isDemanded = demandStamp[value] == stamp;
    node.mayKeep = availability[i] != Availability::dropped;
    cut.addValue(node);
  }
  for (OpId op : opNodes) {
    bool mayRepeat = !isFinal(op);
    cut.addMaker(again[op], mayRepeat);
    if (!mayRepeat)
      continue;
    for (const Leaf &leaf : graph.leaves[op])
      if (nodeStamp[leaf.value] == stamp)
        cut.addOperand(nodeIndex[leaf.value]);
  }
}

/// Whether some result of \p op must be made again by the backward pass, so
/// that recomputing the op is no choice of the planner.
bool CutScheduler::recomputed(OpId op) const {
  for (ValueId value : graph.problem.ops[op].results)
    if (graph.problem.values[value].keep == Keep::Recompute)
      return true;
  return false;
}

/// Builds the network; its answer at the least price.
KeepCut::Answer CutScheduler::solveAtFloor() {
  buildNetwork();
  return cut.solveAt(floorPrice());
}

/// The cheapest answer found that fits \p room.
KeepCut::Answer CutScheduler::chooseAnswer(int64_t room) {
  KeepCut::Answer atFloor = solveAtFloor();
  if (atFloor.bytes <= room || !atFloor.isFeasible)
    return atFloor;
  int64_t pinnedBytes = 0;
  for (ValueId value : nodes)
    if (pinStamp[value] == stamp)
      pinnedBytes += graph.slot[value];
  overfull += pinnedBytes > room;
  // The price hardly changes from one kernel to the next.
  double start = pinnedBytes > room
                     ? highestPrice()
                     : std::max({floorPrice(), 0.25 * pricePerByte(),
                                 lastPrice / KeepCut::priceStep});
  constexpr double farStep =
      KeepCut::priceStep * KeepCut::priceStep * KeepCut::priceStep;
  double farPrice = pinnedBytes > room || lastPrice == 0 || exceeded
                        ? KeepCut::anyPrice
                        : lastPrice * farStep;
  if (exploredUpTo < KeepCut::anyPrice && extendNodes(farPrice))
    atFloor = solveAtFloor();
  std::optional<KeepCut::Corner> corner = findCorner(atFloor, room, start);
  if (!corner) {
    extendNodes(KeepCut::anyPrice);
    corner = findCorner(solveAtFloor(), room, start);
  }
  if (corner->fitting.bytes > room)
    return std::move(corner->fitting);
  return cut.round(*corner, room,
                   std::max(options.floorPrice, 0.25) * pricePerByte(),
                   1e4 * pricePerByte());
}

/// From \p price up until an answer fits \p room, then towards the price where
/// both sides cost the same. Nothing if there are not nodes enough for prices
/// that high. The flow in `cut` is that of \p atFloor.
std::optional<KeepCut::Corner>
CutScheduler::findCorner(const KeepCut::Answer &atFloor, int64_t room,
                         double price) {
  if (exceeded) {
    KeepCut::Answer dearest = cut.solveAt(highestPrice());
    if (dearest.bytes > room)
      return KeepCut::Corner{atFloor, std::move(dearest)};
    cut.forgetFlow();
    cut.solveAt(floorPrice());
    exceeded = false;
  }
  KeepCut::Corner corner =
      cut.climb(atFloor, room, price, highestPrice(), exploredUpTo);
  bool fits = corner.fitting.bytes <= room;
  exceeded = !fits && corner.fitting.price >= highestPrice();
  if (!fits)
    return exceeded ? std::optional(std::move(corner)) : std::nullopt;
  if (corner.fitting.price < highestPrice())
    lastPrice = corner.fitting.price;
  cut.narrow(corner, room);
  return corner;
}
