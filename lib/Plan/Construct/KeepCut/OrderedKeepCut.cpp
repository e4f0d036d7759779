//===- OrderedKeepCut.cpp - The network of one moment and its price -------===//
//
// For every value that what comes demands, or that may be computed on the way
// to one, there is a node "available", and for its op a node "computed":
//
//   source -> available     infinite   the value is demanded
//   available -> computed   keep       cut: it stands in memory
//   computed -> sink        again      cut: it is computed again
//   computed -> available   infinite   computing needs what it is computed from
//
// The price of a byte rises until what is kept fits.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/OrderedKeepCut.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ckpt::plan;

static constexpr int32_t sourceNode = 0, sinkNode = 1;
/// In moves of a byte; at this price, everything that may be is computed again.
static constexpr double highestPrice = 1e6;

int64_t ckpt::plan::recomputePs(const RematGraph &graph, OpId op,
                                const CostWeights &weights) {
  const Problem &problem = graph.problem;
  const Op &o = problem.ops[op];
  int64_t readBytes = 0, ownBytes = 0, readers = 0;
  for (const Leaf &leaf : graph.leaves[op])
    readBytes += problem.values[leaf.value].bytes;
  bool toMemory = false;
  double evaluations = 0;
  for (ValueId value : o.results) {
    ownBytes += problem.values[value].bytes;
    toMemory |= graph.memoryRead[value];
    for (OpId reader : graph.readers[value])
      evaluations += graph.ratio(graph.iterations(reader), value);
    readers += static_cast<int64_t>(graph.readers[value].size());
  }
  if (graph.rooted[op]) {
    double time = static_cast<double>(
        std::max(graph.chainPs[op], graph.movePs(readBytes + ownBytes)) +
        problem.launchNs * 1000);
    bool weighted = o.kind == OpKind::Contraction;
    return static_cast<int64_t>(weighted ? time * weights.contractionWeight
                                         : time);
  }
  constexpr int64_t mostReaders = 3;
  double time = static_cast<double>(graph.chainPs[op]) * evaluations / 2;
  if (toMemory)
    time += static_cast<double>(graph.movePs(2 * ownBytes));
  int64_t moreBytes =
      std::max<int64_t>(0, readBytes + graph.argumentBytes[op] - ownBytes);
  time += weights.readWeight * static_cast<double>(graph.movePs(moreBytes)) *
          static_cast<double>(std::min(readers, mostReaders));
  return static_cast<int64_t>(time);
}

double ckpt::plan::writePs(const RematGraph &graph, ValueId value) {
  // Somebody needs it in memory: then a part of the writing is paid anyway.
  double share = graph.memoryRead[value] ? 1.2 : 1.5;
  return share *
         static_cast<double>(graph.movePs(graph.problem.values[value].bytes));
}

OrderedKeepCut::OrderedKeepCut(const RematGraph &graph,
                               const CostWeights &weights)
    : graph(graph), weights(weights),
      unit(1e6 / static_cast<double>(graph.problem.bytesPerMicrosecond)) {
  double totalBytes = 1;
  for (int64_t bytes : graph.slot)
    totalBytes += static_cast<double>(bytes);
  scale = std::max(1.0, totalBytes * unit * highestPrice /
                            static_cast<double>(MinCut::infinite / 4));
  again.assign(graph.problem.ops.size(), 0);
  for (size_t op = 0; op < again.size(); ++op)
    if (graph.live[op])
      again[op] = recomputePs(graph, static_cast<OpId>(op), weights);
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

/// Marks what can be made from the roots that have run.
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

/// Demands what the kernel of \p root reads of what exists by now; values that
/// the future makes are seen through. What is in \p resident is read from
/// memory.
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
  pricedBytes.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    pricedBytes[i] =
        static_cast<double>(graph.slot[nodes[i]]) * moment.weight[nodes[i]];
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

void OrderedKeepCut::addNode(size_t index) {
  ValueId value = nodes[index];
  if (demanded[value])
    cut.addArc(sourceNode, nodeNumber(index), MinCut::infinite);
  if (availability[index] == Availability::Dropped) {
    cut.addArc(nodeNumber(index), opNumber(opOfNode[index]), MinCut::infinite);
    return;
  }
  keepCapacity[index] =
      isMakeable(index) ? toCapacity(writePs(graph, value)) : 0;
  keepArc[index] = cut.addArc(nodeNumber(index), opNumber(opOfNode[index]),
                              keepCapacity[index]);
}

void OrderedKeepCut::addOp(size_t index) {
  OpId op = ops[index];
  bool never = graph.once[op];
  for (ValueId value : graph.problem.ops[op].results)
    never |= static_cast<bool>(pinned[value]);
  cut.addArc(opNumber(index), sinkNode,
             never ? MinCut::infinite
                   : toCapacity(static_cast<double>(again[op])));
  if (never)
    return;
  for (const Leaf &leaf : graph.leaves[op])
    if (nodeIndex[leaf.value] != none)
      cut.addArc(opNumber(index), nodeNumber(nodeIndex[leaf.value]),
                 MinCut::infinite);
}

void OrderedKeepCut::buildNetwork() {
  cut.reset(opNumber(ops.size()));
  keepArc.assign(nodes.size(), none);
  keepCapacity.assign(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i)
    addNode(i);
  for (size_t i = 0; i < ops.size(); ++i)
    addOp(i);
}

//===----------------------------------------------------------------------===//
// The price
//===----------------------------------------------------------------------===//

/// Labels at \p price, which must not be below that of the flow in `cut`.
OrderedKeepCut::Labels OrderedKeepCut::solveAt(double price) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (keepArc[i] == none)
      continue;
    double write = isMakeable(i) ? writePs(graph, nodes[i]) : 0;
    int64_t capacity = toCapacity(write + price * pricedBytes[i]);
    cut.raise(keepArc[i], capacity - keepCapacity[i]);
    keepCapacity[i] = capacity;
  }
  cut.run(sourceNode, sinkNode);
  Labels labels;
  labels.price = price;
  labels.available.resize(nodes.size());
  labels.computed.resize(ops.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    labels.available[i] = cut.onSourceSide(nodeNumber(i));
  for (size_t i = 0; i < ops.size(); ++i)
    labels.computed[i] = cut.onSourceSide(opNumber(i));
  evaluate(labels);
  return labels;
}

void OrderedKeepCut::evaluate(Labels &labels) const {
  labels.bytes = 0;
  labels.pricedBytes = 0;
  labels.cost = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!isKept(labels, i))
      continue;
    labels.bytes += graph.slot[nodes[i]];
    labels.pricedBytes += pricedBytes[i];
    labels.cost += isMakeable(i) ? writePs(graph, nodes[i]) : 0;
  }
  for (size_t i = 0; i < ops.size(); ++i)
    if (labels.computed[i])
      labels.cost += static_cast<double>(again[ops[i]]);
}

/// From the floor price up until something fits.
OrderedKeepCut::Labels OrderedKeepCut::search(int64_t room) {
  Labels cheaper = solveAt(weights.floorPrice * unit);
  if (cheaper.bytes <= room)
    return cheaper;
  MinCut cheaperCut = cut;
  std::vector<int64_t> cheaperCapacity = keepCapacity;
  for (double price = 4 * weights.floorPrice;; price *= 4) {
    Labels next = solveAt(price * unit);
    if (next.bytes <= room) {
      cut = std::move(cheaperCut);
      keepCapacity = std::move(cheaperCapacity);
      return closeIn(std::move(cheaper), std::move(next), room);
    }
    if (price >= highestPrice)
      return next;
    cheaper = std::move(next);
    cheaperCut = cut;
    cheaperCapacity = keepCapacity;
  }
}

/// Towards the price where both sides cost the same; `cut` is that of the
/// cheaper side.
OrderedKeepCut::Labels OrderedKeepCut::closeIn(Labels cheaper, Labels fitting,
                                               int64_t room) {
  constexpr int mostSteps = 8;
  constexpr double near = 1.001;
  for (int step = 0; step < mostSteps; ++step) {
    double middle = (fitting.cost - cheaper.cost) /
                    (cheaper.pricedBytes - fitting.pricedBytes);
    if (!(middle > cheaper.price * near) || middle * near >= fitting.price)
      break;
    MinCut savedCut = cut;
    std::vector<int64_t> savedCapacity = keepCapacity;
    Labels next = solveAt(middle);
    bool fits = next.bytes <= room;
    bool isNew = next.bytes != (fits ? fitting : cheaper).bytes;
    (fits ? fitting : cheaper) = std::move(next);
    if (!isNew)
      break;
    if (fits) {
      cut = std::move(savedCut);
      keepCapacity = std::move(savedCapacity);
    }
  }
  moveBack(fitting, cheaper, room);
  return fitting;
}

/// Numbers the connected parts of the network in which two answers differ; a
/// node that is alike in both has the number `none`. Ops follow the nodes.
std::vector<int32_t>
OrderedKeepCut::findComponents(const Labels &labels,
                               const Labels &cheaper) const {
  size_t numNodes = nodes.size();
  std::vector<int32_t> parent(numNodes + ops.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto changed = [&](size_t x) {
    return x < numNodes ? labels.available[x] != cheaper.available[x]
                        : labels.computed[x - numNodes] !=
                              cheaper.computed[x - numNodes];
  };
  auto find = [&](int32_t x) {
    while (parent[x] != x)
      x = parent[x] = parent[parent[x]];
    return x;
  };
  auto join = [&](size_t x, size_t y) {
    if (changed(x) && changed(y))
      parent[find(static_cast<int32_t>(x))] = find(static_cast<int32_t>(y));
  };
  for (size_t i = 0; i < numNodes; ++i)
    join(i, numNodes + opOfNode[i]);
  for (size_t i = 0; i < ops.size(); ++i)
    for (const Leaf &leaf : graph.leaves[ops[i]])
      if (nodeIndex[leaf.value] != none)
        join(numNodes + i, nodeIndex[leaf.value]);
  std::vector<int32_t> component(parent.size(), none);
  for (size_t x = 0; x < parent.size(); ++x)
    if (changed(x))
      component[x] = find(static_cast<int32_t>(x));
  return component;
}

/// Moves connected differences towards the cheaper answer, what saves most time
/// per byte first, as long as they fit. Both answers obey all infinite arcs,
/// and so does every mix of whole components.
void OrderedKeepCut::moveBack(Labels &labels, const Labels &cheaper,
                              int64_t room) const {
  size_t numNodes = nodes.size();
  std::vector<int32_t> component = findComponents(labels, cheaper);
  std::vector<int64_t> bytes(component.size(), 0);
  std::vector<double> saving(component.size(), 0), priced(component.size(), 0);
  for (size_t i = 0; i < numNodes; ++i) {
    int32_t part =
        component[i] != none ? component[i] : component[numNodes + opOfNode[i]];
    if (part == none)
      continue;
    int change = isKept(cheaper, i) - isKept(labels, i);
    bytes[part] += change * graph.slot[nodes[i]];
    priced[part] += change * pricedBytes[i];
    saving[part] -= change * (isMakeable(i) ? writePs(graph, nodes[i]) : 0);
  }
  for (size_t i = 0; i < ops.size(); ++i)
    if (int32_t part = component[numNodes + i]; part != none)
      saving[part] += (labels.computed[i] ? 1.0 : -1.0) *
                      static_cast<double>(again[ops[i]]);
  std::vector<int32_t> parts;
  for (size_t x = 0; x < component.size(); ++x)
    if (component[x] == static_cast<int32_t>(x) && saving[x] > 0)
      parts.push_back(component[x]);
  auto rate = [&](int32_t part) {
    return saving[part] / std::max(priced[part], 1.0);
  };
  std::sort(parts.begin(), parts.end(), [&](int32_t a, int32_t b) {
    return rate(a) != rate(b) ? rate(a) > rate(b) : a < b;
  });
  std::vector<char> taken(component.size(), 0);
  int64_t used = labels.bytes;
  for (int32_t part : parts)
    if (used + bytes[part] <= room) {
      used += bytes[part];
      taken[part] = 1;
    }
  for (size_t x = 0; x < component.size(); ++x) {
    if (component[x] == none || !taken[component[x]])
      continue;
    if (x < numNodes)
      labels.available[x] = cheaper.available[x];
    else
      labels.computed[x - numNodes] = cheaper.computed[x - numNodes];
  }
  evaluate(labels);
}

/// Whether \p output may be written over a value that nobody reads later.
bool OrderedKeepCut::overwrites(ValueId output) const {
  constexpr size_t mostVisited = 16;
  const Problem &problem = graph.problem;
  std::vector<ValueId> chain = {output};
  for (size_t i = 0; i < chain.size(); ++i)
    for (const Read &read : problem.ops[problem.values[chain[i]].op].reads) {
      bool keepsPlace = read.access == Access::Pointwise ||
                        read.access == Access::Reshape ||
                        read.access == Access::Aligned || read.destination;
      if (!keepsPlace || graph.isFree(read.value))
        continue;
      if (!pinned[read.value]) {
        if (chain.size() < mostVisited)
          chain.push_back(read.value);
      } else if (!demandedLater[read.value] &&
                 graph.slot[read.value] == graph.slot[output]) {
        return true;
      }
    }
  return false;
}

/// Bytes that the kernel of \p root takes beyond what it reads.
int64_t OrderedKeepCut::kernelBytes(OpId root) const {
  const Op &op = graph.problem.ops[root];
  int64_t bytes = slotBytes(op.workspaceBytes);
  if (graph.rooted[root])
    for (ValueId value : op.results)
      if (!graph.users[value].empty() && !overwrites(value))
        bytes += graph.slot[value];
  return bytes;
}

/// What blocks make that are alike is kept or computed again all at once. With
/// the room that this leaves, some of what is computed again is kept at even
/// distances, so that less has to be computed at once on the way back.
std::vector<ValueId> OrderedKeepCut::fillRoom(const Labels &labels,
                                              int64_t room) const {
  std::vector<ValueId> again;
  double bytes = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (labels.available[i] && labels.computed[opOfNode[i]] &&
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
  buildNetwork();
  room -= kernelBytes(moment.order[moment.at]);
  Work::spend(10 * static_cast<int64_t>(graph.problem.ops.size() +
                                        moment.order.size()) +
              200 * static_cast<int64_t>(nodes.size()));
  Labels labels = search(room);
  std::vector<ValueId> kept = fillRoom(labels, room - labels.bytes);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (isKept(labels, i))
      kept.push_back(nodes[i]);
  return kept;
}
