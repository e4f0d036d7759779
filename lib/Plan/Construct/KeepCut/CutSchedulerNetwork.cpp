//===- CutSchedulerNetwork.cpp - The network of a snapshot and its labels -===//
//
// For every value that the rest of the plan demands, or that may be computed on
// the way to one, there is a node "available" (A), and for its op a node
// "computed from here on" (P):
//
//   source -> A       infinite   the value is demanded
//   A -> P            keep       cut: it stands in memory and pays for bytes
//   P -> sink         again      cut: it is computed again
//   P -> A of leaves  infinite   computing needs what it is computed from
//
// The price of a byte is raised until what is kept fits.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutScheduler.h"
#include "Plan/Construct/KeepCut/OrderedKeepCut.h"

#include <algorithm>
#include <cmath>

using namespace ckpt::plan;

static constexpr int32_t sourceNode = 0;
static constexpr int32_t sinkNode = 1;

int64_t CutScheduler::againPs(OpId op) const {
  CostWeights weights;
  weights.contractionWeight = options.contractionWeight;
  weights.readWeight = options.readWeight;
  return recomputePs(graph, op, weights);
}

/// Time that keeping \p value costs beyond its bytes: writing it, and a fine if
/// it was written and dropped before, which stops writing it over and over.
double CutScheduler::keepCost(ValueId value) const {
  if (availability[nodeIndex[value]] != Availability::makeable)
    return 0;
  double write = graph.memoryRead[value] ? 1.2 : 1.5;
  return static_cast<double>(graph.movePs(graph.problem.values[value].bytes)) *
         (write + 3.0 * drops[value]);
}

void CutScheduler::buildNetwork() {
  int32_t numNodes = static_cast<int32_t>(nodes.size());
  cut.reset(2 + numNodes + static_cast<int32_t>(opNodes.size()));
  for (size_t i = 0; i < opNodes.size(); ++i)
    opIndex[opNodes[i]] = 2 + numNodes + static_cast<int32_t>(i);
  keepArc.assign(nodes.size(), -1);
  keepCapacity.assign(nodes.size(), 0);
  std::vector<signed char> forced(opNodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    ValueId value = nodes[i];
    OpId op = graph.problem.values[value].op;
    int32_t node = 2 + static_cast<int32_t>(i);
    if (demandStamp[value] == stamp)
      cut.addArc(sourceNode, node, MinCut::infinite);
    if (availability[i] == Availability::dropped) {
      cut.addArc(node, opIndex[op], MinCut::infinite);
    } else {
      keepCapacity[i] = std::llround(keepCost(value));
      keepArc[i] = cut.addArc(node, opIndex[op], keepCapacity[i]);
    }
    // Of an op with several results, one may be pinned and another dropped.
    signed char &force = forced[opIndex[op] - 2 - numNodes];
    if (availability[i] == Availability::dropped)
      force = -1;
    else if (pinStamp[value] == stamp && force == 0)
      force = 1;
  }
  for (size_t i = 0; i < opNodes.size(); ++i) {
    OpId op = opNodes[i];
    bool never =
        forced[i] > 0 || runsOnce(op) ||
        (graph.rooted[op] && !options.repeatAnchors && !recomputed(op));
    cut.addArc(opIndex[op], sinkNode, never ? MinCut::infinite : again[op]);
    if (never)
      continue;
    for (const Leaf &leaf : graph.leaves[op])
      if (nodeStamp[leaf.value] == stamp)
        cut.addArc(opIndex[op], 2 + nodeIndex[leaf.value], MinCut::infinite);
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

void CutScheduler::setPrice(double price) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (keepArc[i] < 0)
      continue;
    int64_t capacity = std::llround(
        keepCost(nodes[i]) + price * static_cast<double>(graph.slot[nodes[i]]));
    cut.raise(keepArc[i], capacity - keepCapacity[i]);
    keepCapacity[i] = capacity;
  }
}

/// Labels at \p price, which must not be below that of the flow in `cut`.
CutScheduler::Labels CutScheduler::solveAt(double price) {
  setPrice(price);
  return readLabels(price);
}

/// Labels of the network as it is.
CutScheduler::Labels CutScheduler::readLabels(double price) {
  Labels labels;
  labels.price = price;
  labels.feasible = cut.run(sourceNode, sinkNode) < MinCut::infinite;
  labels.available.resize(nodes.size());
  labels.computed.resize(opNodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    labels.available[i] = cut.onSourceSide(2 + static_cast<int32_t>(i));
  for (size_t i = 0; i < opNodes.size(); ++i)
    labels.computed[i] = cut.onSourceSide(opIndex[opNodes[i]]);
  evaluate(labels);
  return labels;
}

void CutScheduler::evaluate(Labels &labels) const {
  int32_t base = 2 + static_cast<int32_t>(nodes.size());
  labels.bytes = 0;
  labels.cost = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    ValueId value = nodes[i];
    OpId op = graph.problem.values[value].op;
    if (!labels.available[i] || labels.computed[opIndex[op] - base])
      continue;
    labels.bytes += graph.slot[value];
    labels.cost += keepCost(value);
  }
  for (size_t i = 0; i < opNodes.size(); ++i)
    if (labels.computed[i])
      labels.cost += static_cast<double>(again[opNodes[i]]);
}

/// The network as `buildNetwork` left it.
void CutScheduler::forgetPrices() {
  cut.forgetFlow();
  for (size_t i = 0; i < nodes.size(); ++i)
    if (keepArc[i] >= 0) {
      keepCapacity[i] = std::llround(keepCost(nodes[i]));
      cut.setCapacity(keepArc[i], keepCapacity[i]);
    }
}

/// Builds the network; its labels at the least price.
CutScheduler::Labels CutScheduler::solveAtFloor() {
  buildNetwork();
  return solveAt(floorPrice());
}

/// The cheapest labels found whose bytes fit \p room.
CutScheduler::Labels CutScheduler::chooseLabels(int64_t room) {
  Labels atFloor = solveAtFloor();
  if (atFloor.bytes <= room || !atFloor.feasible)
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
                                 lastPrice / priceStep});
  double farPrice = pinnedBytes > room || lastPrice == 0 || exceeded
                        ? anyPrice
                        : lastPrice * priceStep * priceStep * priceStep;
  if (exploredUpTo < anyPrice && extendNodes(farPrice))
    atFloor = solveAtFloor();
  std::optional<Corner> corner = findCorner(atFloor, room, start);
  if (!corner) {
    extendNodes(anyPrice);
    corner = findCorner(solveAtFloor(), room, start);
  }
  return roundAt(*corner, room);
}

/// From \p price up until something fits \p room, then towards the price where
/// both sides cost the same. Nothing if there are not nodes enough for prices
/// that high. The flow in `cut` is that of \p atFloor.
std::optional<CutScheduler::Corner>
CutScheduler::findCorner(const Labels &atFloor, int64_t room, double price) {
  Corner corner;
  if (exceeded) {
    corner.fitting = solveAt(highestPrice());
    if (corner.fitting.bytes > room)
      return corner;
    forgetPrices();
    solveAt(floorPrice());
    exceeded = false;
  }
  corner.cheaper = corner.fitting = atFloor;
  savedCut = cut;
  std::vector<int64_t> savedCapacity = keepCapacity;
  for (; corner.fitting.bytes > room; price *= priceStep) {
    if (price * priceStep > exploredUpTo)
      return std::nullopt;
    corner.fitting = solveAt(price);
    if (corner.fitting.bytes <= room)
      break;
    if (price >= highestPrice()) {
      exceeded = true;
      return corner;
    }
    corner.cheaper = corner.fitting;
    savedCut = cut;
    savedCapacity = keepCapacity;
  }
  if (corner.fitting.price < highestPrice())
    lastPrice = corner.fitting.price;
  for (int step = 0; step < 8; ++step) {
    double middle = corner.crossing();
    if (!(middle > corner.cheaper.price * 1.0001) ||
        middle >= corner.fitting.price * 0.9999)
      break;
    cut = savedCut;
    keepCapacity = savedCapacity;
    Labels next = solveAt(middle);
    if (next.bytes == corner.fitting.bytes ||
        next.bytes == corner.cheaper.bytes)
      break;
    if (next.bytes <= room) {
      corner.fitting = std::move(next);
      continue;
    }
    corner.cheaper = std::move(next);
    savedCut = cut;
    savedCapacity = keepCapacity;
  }
  return corner;
}

/// What fits between both sides of \p corner and beyond.
CutScheduler::Labels CutScheduler::roundAt(const Corner &corner, int64_t room) {
  if (corner.fitting.bytes > room)
    return corner.fitting;
  Labels best = corner.fitting;
  moveBack(best, corner.cheaper, room);
  // Farther corners differ in more: worse on the whole, but what is small
  // there may fill the last gap.
  forgetPrices();
  Labels below = solveAt(corner.fitting.price / priceStep);
  Labels above = solveAt(corner.fitting.price * priceStep);
  moveBack(above, below, room);
  if (above.bytes <= room && above.cost < best.cost)
    best = std::move(above);
  fill(best, room);
  return best;
}
