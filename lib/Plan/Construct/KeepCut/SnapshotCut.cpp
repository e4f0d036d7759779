//===- SnapshotCut.cpp - Which demanded values to keep --------------------===//
//
// Most snapshots fit at the lowest price. At low prices, a value that is dear
// to make is kept in every cut, and its operands need no nodes: the network
// grows with the price.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/SnapshotCut.h"

#include "Plan/Construct/KeepCut/CutCosts.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

SnapshotCut::SnapshotCut(const WalkState &state, const SnapshotDemand &demand)
    : state(state), graph(state.graph), demand(demand),
      isNode(graph.problem.values.size()), isMaker(graph.problem.ops.size()),
      nodeIndex(graph.problem.values.size()),
      makerIndex(graph.problem.ops.size()) {
  for (size_t op = 0; op < graph.problem.ops.size(); ++op) {
    bool any = false;
    for (ValueId value : graph.problem.ops[op].results)
      if (graph.live[op] && graph.node[value]) {
        valuesInOrder.push_back(value);
        any = true;
      }
    if (any)
      makersInOrder.push_back(static_cast<OpId>(op));
  }
}

void SnapshotCut::start() {
  const CutOptions &options = state.options;
  CostWeights weights;
  weights.contractionWeight = options.contractionWeight;
  weights.readWeight = options.readWeight;
  auto numOps = static_cast<double>(graph.problem.ops.size());
  again.assign(graph.problem.ops.size(), 0);
  for (OpId op : makersInOrder)
    again[op] = static_cast<int64_t>(
        static_cast<double>(recomputePs(graph, op, weights)) *
        (1 + options.urgency * static_cast<double>(op) / numOps));
  drops.assign(graph.problem.values.size(), 0);
  lastPrice = 0;
  exceeded = false;
  overfull = 0;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Whether computing \p value again is out of the question, or costs at least
/// as much as keeping it at price `exploredUpTo`, if all its operands were at
/// hand: then every cut up to that price keeps it.
bool SnapshotCut::isSurelyKept(ValueId value) const {
  OpId op = state.makerOf(value);
  return state.resident[value] && graph.problem.ops[op].results.size() == 1 &&
         (state.runsOnce(op) ||
          exploredUpTo * static_cast<double>(graph.slot[value]) <=
              static_cast<double>(again[op]));
}

/// Adds the values from which the nodes from number \p from on are made,
/// without passing values that are sure to be kept.
void SnapshotCut::explore(size_t from) {
  for (size_t i = from; i < nodes.size(); ++i) {
    ValueId value = nodes[i];
    OpId op = state.makerOf(value);
    if (!isMaker.insert(op))
      continue;
    if (demand.isPinned(value) && graph.problem.ops[op].results.size() == 1)
      continue;
    if (isSurelyKept(value))
      unexplored.push_back(value);
    else
      addLeaves(op);
  }
}

void SnapshotCut::addLeaves(OpId op) {
  for (const Leaf &leaf : graph.leaves[op])
    if (!state.isWritten(leaf.value) && isNode.insert(leaf.value))
      nodes.push_back(leaf.value);
}

void SnapshotCut::build(bool everythingAtHand) {
  allAtHand = everythingAtHand;
  // Before the border, the room depends on all nodes.
  exploredUpTo =
      state.borderCrossed && !allAtHand ? floorPrice() : KeepCut::anyPrice;
  nodes = demand.values();
  isNode.clear();
  isMaker.clear();
  for (ValueId value : nodes)
    isNode.insert(value);
  unexplored.clear();
  explore(0);
  orderNodes();
  findAvailability();
}

/// Adds the nodes for prices up to \p price; returns whether there are any.
bool SnapshotCut::extend(double price) {
  exploredUpTo = price;
  size_t known = nodes.size();
  std::vector<ValueId> kept;
  for (ValueId value : unexplored)
    if (isSurelyKept(value))
      kept.push_back(value);
    else
      addLeaves(state.makerOf(value));
  unexplored = std::move(kept);
  explore(known);
  if (nodes.size() == known)
    return false;
  orderNodes();
  findAvailability();
  return true;
}

/// Puts producers first.
void SnapshotCut::orderNodes() {
  makers.clear();
  // With many nodes, a scan is faster than sorting, which takes longer than the
  // cut.
  if (nodes.size() > valuesInOrder.size() / 16) {
    nodes.clear();
    for (ValueId value : valuesInOrder)
      if (isNode.has(value))
        nodes.push_back(value);
    for (OpId op : makersInOrder)
      if (isMaker.has(op))
        makers.push_back(op);
    return;
  }
  std::sort(nodes.begin(), nodes.end(), [&](ValueId a, ValueId b) {
    return std::pair(state.makerOf(a), a) < std::pair(state.makerOf(b), b);
  });
  for (ValueId value : nodes)
    if (OpId op = state.makerOf(value); makers.empty() || makers.back() != op)
      makers.push_back(op);
}

/// Needs the availability of the operands of \p value.
SnapshotCut::Availability SnapshotCut::availabilityOf(ValueId value) const {
  OpId op = state.makerOf(value);
  if (state.resident[value] || demand.isPinned(value) ||
      (allAtHand && graph.rooted[op]))
    return Availability::InMemory;
  // A value that the backward pass makes again cannot be kept for it.
  if (!state.borderCrossed && !graph.once[op] &&
      graph.problem.values[value].keep == Keep::Recompute)
    return Availability::Dropped;
  bool canMake = !graph.rooted[op] && (state.borderCrossed || !graph.late[op]);
  for (const Leaf &leaf : graph.leaves[op])
    canMake &= state.isWritten(leaf.value) ||
               (has(leaf.value) &&
                availability[nodeIndex[leaf.value]] != Availability::Dropped);
  return canMake ? Availability::Makeable : Availability::Dropped;
}

void SnapshotCut::findAvailability() {
  availability.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    nodeIndex[nodes[i]] = static_cast<int32_t>(i);
    availability[i] = availabilityOf(nodes[i]);
  }
}

int64_t SnapshotCut::bytesBeforeBorder() const {
  int64_t bytes = 0;
  if (!state.borderCrossed)
    for (size_t i = 0; i < nodes.size(); ++i)
      if (state.resident[nodes[i]] && availability[i] == Availability::Dropped)
        bytes += graph.slot[nodes[i]];
  return bytes;
}

//===----------------------------------------------------------------------===//
// The network and its price
//===----------------------------------------------------------------------===//

/// Whether \p op cannot run later: it runs once, or some result of it is pinned
/// and none was dropped.
bool SnapshotCut::isFinal(OpId op) const {
  bool isPinned = false, isDropped = false;
  for (ValueId value : graph.problem.ops[op].results)
    if (has(value)) {
      isPinned |= demand.isPinned(value);
      isDropped |= availability[nodeIndex[value]] == Availability::Dropped;
    }
  return (isPinned && !isDropped) || state.runsOnce(op) ||
         (graph.rooted[op] && !state.options.repeatAnchors &&
          !isRecomputed(op));
}

/// Whether the backward pass must make some result of \p op again, so that
/// recomputing the op is no choice of the planner.
bool SnapshotCut::isRecomputed(OpId op) const {
  for (ValueId value : graph.problem.ops[op].results)
    if (graph.problem.values[value].keep == Keep::Recompute)
      return true;
  return false;
}

void SnapshotCut::buildNetwork() {
  cut.reset(nodes.size(), makers.size());
  for (size_t i = 0; i < makers.size(); ++i)
    makerIndex[makers[i]] = static_cast<int32_t>(i);
  for (size_t i = 0; i < nodes.size(); ++i) {
    KeepCut::Value node;
    node.maker = makerIndex[state.makerOf(nodes[i])];
    node.bytes = graph.slot[nodes[i]];
    node.pricedBytes = static_cast<double>(node.bytes);
    if (availability[i] == Availability::Makeable)
      node.keepPs = writePs(graph, nodes[i], drops[nodes[i]]);
    node.isDemanded = demand.isDemanded(nodes[i]);
    node.mayKeep = availability[i] != Availability::Dropped;
    cut.addValue(node);
  }
  for (OpId op : makers) {
    bool mayRepeat = !isFinal(op);
    cut.addMaker(again[op], mayRepeat);
    if (!mayRepeat)
      continue;
    for (const Leaf &leaf : graph.leaves[op])
      if (has(leaf.value))
        cut.addOperand(nodeIndex[leaf.value]);
  }
}

/// Builds the network; its answer at the least price.
KeepCut::Answer SnapshotCut::solveAtFloor() {
  buildNetwork();
  return cut.solveAt(floorPrice());
}

/// The cheapest answer found that fits \p room.
KeepCut::Answer SnapshotCut::search(int64_t room) {
  constexpr double farStep =
      KeepCut::priceStep * KeepCut::priceStep * KeepCut::priceStep;
  double least = 0.25 * pricePerByte();
  KeepCut::Answer atFloor = solveAtFloor();
  if (atFloor.bytes <= room || !atFloor.isFeasible)
    return atFloor;
  int64_t pinnedBytes = 0;
  for (ValueId value : nodes)
    if (demand.isPinned(value))
      pinnedBytes += graph.slot[value];
  bool isOverfull = pinnedBytes > room;
  overfull += isOverfull;
  // The price hardly changes from one kernel to the next.
  double start =
      isOverfull
          ? highestPrice()
          : std::max({floorPrice(), least, lastPrice / KeepCut::priceStep});
  double farPrice = isOverfull || lastPrice == 0 || exceeded
                        ? KeepCut::anyPrice
                        : lastPrice * farStep;
  if (exploredUpTo < KeepCut::anyPrice && extend(farPrice))
    atFloor = solveAtFloor();
  std::optional<KeepCut::Corner> corner = findCorner(atFloor, room, start);
  if (!corner) {
    extend(KeepCut::anyPrice);
    corner = findCorner(solveAtFloor(), room, start);
  }
  if (corner->fitting.bytes > room)
    return std::move(corner->fitting);
  return cut.round(*corner, room, std::max(floorPrice(), least),
                   1e4 * pricePerByte());
}

/// From \p price up until an answer fits \p room, then towards the price where
/// both sides cost the same. Nothing if prices that high need more nodes. The
/// flow in `cut` is that of \p atFloor.
std::optional<KeepCut::Corner>
SnapshotCut::findCorner(const KeepCut::Answer &atFloor, int64_t room,
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

void SnapshotCut::choose(int64_t room) { answer = search(room); }
