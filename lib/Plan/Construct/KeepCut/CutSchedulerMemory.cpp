//===- CutSchedulerMemory.cpp - What stands in memory after a kernel ------===//
//
// Collects what the rest of the plan demands of what exists by now, lets the
// cut (CutSchedulerNetwork.cpp) decide what of it is kept, writes what it wants
// in memory and is not there, and drops the rest.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutScheduler.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

void CutScheduler::demand(ValueId value) {
  if (demandStamp[value] == stamp || isWritten(value))
    return;
  demandStamp[value] = stamp;
  demanded.push_back(value);
}

/// Demands what the kernel of \p op will read, of what exists by now; values
/// that the future makes are seen through.
void CutScheduler::collectDemand(OpId op) {
  std::vector<OpId> stack = {op};
  opStamp[op] = stamp;
  while (!stack.empty()) {
    OpId current = stack.back();
    stack.pop_back();
    for (const Leaf &leaf : graph.leaves[current]) {
      OpId producer = graph.problem.values[leaf.value].op;
      if (past[leaf.value]) {
        demand(leaf.value);
      } else if (!graph.rooted[producer] && opStamp[producer] != stamp) {
        opStamp[producer] = stamp;
        stack.push_back(producer);
      }
    }
  }
}

/// Residents that \p root, with what has to be made before it, reads.
std::vector<ValueId> CutScheduler::residentReads(OpId root) {
  std::vector<ValueId> reads;
  ++readMark;
  std::vector<OpId> stack = {root};
  readOpMark[root] = readMark;
  while (!stack.empty()) {
    OpId op = stack.back();
    stack.pop_back();
    for (const Leaf &leaf : graph.leaves[op]) {
      OpId producer = graph.problem.values[leaf.value].op;
      if (resident[leaf.value] || (everythingAvailable && isMadeFirst(leaf))) {
        if (std::exchange(readValueMark[leaf.value], readMark) != readMark)
          reads.push_back(leaf.value);
      } else if (std::exchange(readOpMark[producer], readMark) != readMark) {
        stack.push_back(producer);
      }
    }
  }
  return reads;
}

/// Marks what has to stay until \p root has run.
void CutScheduler::pinReads(const Burst &pending, OpId root) {
  std::vector<ValueId> reads = residentReads(root);
  int64_t bytes = transientBytes(pending, root);
  for (ValueId value : reads)
    bytes += graph.slot[value];
  if (!pending.empty() && bytes > options.capBytes)
    releaseReads(pending, root, reads);
  for (ValueId value : reads)
    pinStamp[value] = stamp;
}

/// Takes from \p reads, which leave no room for what has to be made before
/// \p root, what may be made again afterwards. Of what was made for the root
/// that is only what the operand that is being made needs no more, and nothing
/// is dropped for it twice, so that it does run in the end.
void CutScheduler::releaseReads(const Burst &pending, OpId root,
                                std::vector<ValueId> &reads) {
  auto makerOf = [&](ValueId value) { return graph.problem.values[value].op; };
  std::vector<ValueId> next = residentReads(makerOf(pending.front()));
  ValueId operand = firstOperand(root, pending);
  residentReads(operand == none ? root : makerOf(operand));
  auto mayGo = [&](ValueId value) {
    bool isForOperand = readValueMark[value] == readMark;
    return droppedFor[value] != root &&
           (madeFor[value] != root || !isForOperand);
  };
  reads.erase(std::remove_if(reads.begin(), reads.end(), mayGo), reads.end());
  reads.insert(reads.end(), next.begin(), next.end());
}

/// Before the border: what early roots still need of values that the backward
/// pass has to make again. Only these may stay in memory on their account.
void CutScheduler::collectForRecompute() {
  std::vector<ValueId> stack;
  int32_t current = stamp;
  auto visit = [&](ValueId value) {
    if (earlyStamp[value] == current || !past[value])
      return;
    earlyStamp[value] = current;
    stack.push_back(value);
  };
  std::vector<OpId> early;
  for (OpId root : remaining)
    if (!graph.late[root])
      early.push_back(root);
  for (size_t i = 0; i < early.size(); ++i) {
    for (const Leaf &leaf : graph.leaves[early[i]]) {
      OpId producer = graph.problem.values[leaf.value].op;
      if (past[leaf.value])
        visit(leaf.value);
      else if (!graph.rooted[producer] && opNodeStamp[producer] != -current) {
        opNodeStamp[producer] = -current;
        early.push_back(producer);
      }
    }
    while (!stack.empty()) {
      ValueId value = stack.back();
      stack.pop_back();
      if (!resident[value])
        for (const Leaf &leaf : graph.leaves[graph.problem.values[value].op])
          visit(leaf.value);
    }
  }
}

/// Whether computing \p value again is out of the question, or costs at least
/// what keeping it does at price `exploredUpTo`, if all that it reads were at
/// hand: then every cut up to that price keeps it, whatever it is computed
/// from.
bool CutScheduler::isSurelyKept(ValueId value) const {
  OpId op = graph.problem.values[value].op;
  return resident[value] && graph.problem.ops[op].results.size() == 1 &&
         (runsOnce(op) ||
          exploredUpTo * static_cast<double>(graph.slot[value]) <=
              static_cast<double>(again[op]));
}

/// Adds to `nodes` what those from number \p from on are computed from, without
/// passing what is sure to be kept.
void CutScheduler::explore(size_t from) {
  for (size_t i = from; i < nodes.size(); ++i) {
    ValueId value = nodes[i];
    OpId op = graph.problem.values[value].op;
    if (opNodeStamp[op] == stamp)
      continue;
    opNodeStamp[op] = stamp;
    if (pinStamp[value] == stamp && graph.problem.ops[op].results.size() == 1)
      continue;
    if (isSurelyKept(value))
      unexplored.push_back(value);
    else
      addLeaves(op);
  }
}

void CutScheduler::addLeaves(OpId op) {
  for (const Leaf &leaf : graph.leaves[op]) {
    if (nodeStamp[leaf.value] == stamp || isWritten(leaf.value))
      continue;
    nodeStamp[leaf.value] = stamp;
    nodes.push_back(leaf.value);
  }
}

/// Everything that the demand reaches, as far as prices up to \p highestPrice
/// need it.
void CutScheduler::buildNodes(double highestPrice) {
  exploredUpTo = highestPrice;
  nodes = demanded;
  for (ValueId value : nodes)
    nodeStamp[value] = stamp;
  unexplored.clear();
  explore(0);
  orderNodes();
  findAvailability();
}

/// The nodes for higher prices after those for lower ones; whether there are
/// any.
bool CutScheduler::extendNodes(double highestPrice) {
  exploredUpTo = highestPrice;
  size_t known = nodes.size();
  std::vector<ValueId> kept;
  for (ValueId value : unexplored)
    if (isSurelyKept(value))
      kept.push_back(value);
    else
      addLeaves(graph.problem.values[value].op);
  unexplored = std::move(kept);
  explore(known);
  if (nodes.size() == known)
    return false;
  orderNodes();
  findAvailability();
  return true;
}

/// Producers first.
void CutScheduler::orderNodes() {
  opNodes.clear();
  // Of many, a scan is faster than sorting, which takes longer than the cut.
  if (nodes.size() > nodesInOrder.size() / 16) {
    nodes.clear();
    for (ValueId value : nodesInOrder)
      if (nodeStamp[value] == stamp)
        nodes.push_back(value);
    for (OpId op : nodeOpsInOrder)
      if (opNodeStamp[op] == stamp)
        opNodes.push_back(op);
    return;
  }
  std::sort(nodes.begin(), nodes.end(), [&](ValueId a, ValueId b) {
    return std::pair(graph.problem.values[a].op, a) <
           std::pair(graph.problem.values[b].op, b);
  });
  for (ValueId value : nodes)
    if (OpId op = graph.problem.values[value].op;
        opNodes.empty() || opNodes.back() != op)
      opNodes.push_back(op);
}

void CutScheduler::findAvailability() {
  availability.resize(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    ValueId value = nodes[i];
    nodeIndex[value] = static_cast<int32_t>(i);
    OpId op = graph.problem.values[value].op;
    if (resident[value] || pinStamp[value] == stamp ||
        (everythingAvailable && graph.rooted[op])) {
      availability[i] = Availability::inMemory;
      continue;
    }
    bool canMake = !graph.rooted[op] && (borderCrossed || !graph.late[op]);
    for (const Leaf &leaf : graph.leaves[op])
      canMake &= isWritten(leaf.value) ||
                 (nodeStamp[leaf.value] == stamp &&
                  availability[nodeIndex[leaf.value]] != Availability::dropped);
    availability[i] = canMake ? Availability::makeable : Availability::dropped;
    // What the backward pass makes again cannot be kept for it.
    if (!borderCrossed && !graph.once[op] &&
        graph.problem.values[value].keep == Keep::Recompute)
      availability[i] = Availability::dropped;
  }
}

/// Bytes that the next kernel takes while it runs, beyond what it reads.
int64_t CutScheduler::transientBytes(const Burst &pending, OpId root) {
  OpId op = pending.empty() ? root : graph.problem.values[pending.front()].op;
  const Op &o = graph.problem.ops[op];
  int64_t bytes = slotBytes(o.workspaceBytes);
  for (ValueId value : o.results) {
    bool written = pending.empty() ? !graph.users[value].empty()
                                   : value == pending.front();
    if (written && (graph.rooted[op] || !pending.empty()) &&
        !mayOverwrite(op, value))
      bytes += graph.slot[value];
  }
  return bytes;
}

/// Whether a value that only the kernel of \p op still reads can be overwritten
/// by \p output. `otherStamp` marks what others demand.
bool CutScheduler::mayOverwrite(OpId op, ValueId output) {
  const Problem &problem = graph.problem;
  std::vector<ValueId> chain = {output};
  for (size_t i = 0; i < chain.size(); ++i) {
    const Op &producer = problem.ops[problem.values[chain[i]].op];
    for (const Read &read : producer.reads) {
      bool keepsPlace = read.access == Access::Pointwise ||
                        read.access == Access::Reshape ||
                        read.access == Access::Aligned || read.destination;
      if (!keepsPlace || graph.isFree(read.value))
        continue;
      if (!resident[read.value]) {
        OpId inner = problem.values[read.value].op;
        if (!graph.rooted[inner] && chain.size() < 16)
          chain.push_back(read.value);
        continue;
      }
      if (otherStamp[read.value] != stamp && op != none &&
          graph.slot[read.value] == graph.slot[output] &&
          problem.values[read.value].bytes == problem.values[output].bytes)
        return true;
    }
  }
  return false;
}

void CutScheduler::settle(const Burst &pending, OpId root) {
  ++stamp;
  demanded.clear();
  bool guided = options.guide && !done[options.guide->until];
  for (OpId other : remaining)
    if (other != root && (!guided || options.guide->before[other]))
      collectDemand(other);
  if (guided)
    for (ValueId value : options.guide->kept) {
      if (past[value])
        demand(value);
      else
        collectDemand(graph.problem.values[value].op);
    }
  for (ValueId value : demanded)
    otherStamp[value] = stamp;
  collectDemand(root);
  if (!borderCrossed)
    collectForRecompute();
  pinReads(pending, root);
  // Before the border, room depends on all nodes.
  buildNodes(borderCrossed ? floorPrice() : KeepCut::anyPrice);
  Work::spend(200 * static_cast<int64_t>(nodes.size()) +
              20 * static_cast<int64_t>(remaining.size()));
  apply(chooseAnswer(roomFor(pending, root)));
}

/// Bytes for what stands in memory while the next kernel runs, beyond what it
/// writes itself.
int64_t CutScheduler::roomFor(const Burst &pending, OpId root) {
  int64_t room = options.capBytes - transientBytes(pending, root);
  if (options.reserve > 0)
    for (ValueId value : pending)
      if (graph.problem.ops[graph.problem.values[value].op].kind ==
          OpKind::Contraction) {
        room -= static_cast<int64_t>(options.reserve *
                                     static_cast<double>(options.capBytes));
        break;
      }
  if (!borderCrossed)
    for (ValueId value : nodes)
      if (resident[value] &&
          availability[nodeIndex[value]] == Availability::dropped)
        room -= graph.slot[value];
  return room;
}

/// Writes what the cut wants in memory and is not there, drops the rest.
void CutScheduler::apply(const KeepCut::Answer &answer) {
  std::vector<char> keep(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i)
    keep[i] = cut.isKept(answer, i);
  int32_t current = stamp;
  std::vector<ValueId> make;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (keep[i] && availability[i] == Availability::makeable)
      make.push_back(nodes[i]);
  for (ValueId value : make) {
    if (resident[value])
      continue;
    for (ValueId operand : missing(graph.problem.values[value].op))
      emitValue(operand);
    emitValue(value);
  }
  for (size_t value = 0; value < resident.size(); ++value) {
    if (!resident[value] || graph.problem.values[value].home == Home::Result)
      continue;
    if (nodeStamp[value] == current &&
        (keep[nodeIndex[value]] ||
         (!borderCrossed && earlyStamp[value] == current)))
      continue;
    if (pinStamp[value] == current)
      continue;
    resident[value] = 0;
    droppedFor[value] = turn;
    drops[value] += nodeStamp[value] == current;
  }
}

Guide CutScheduler::makeGuide(const CutOptions &newOptions,
                              const std::vector<OpId> &order, OpId until) {
  start(newOptions);
  Guide guide;
  auto place = std::find(order.begin(), order.end(), until);
  while (held[*place] && place + 1 != order.end())
    ++place;
  until = *place;
  guide.until = until;
  guide.before.assign(graph.problem.ops.size(), 0);
  for (OpId op : order) {
    if (op == until)
      break;
    if (held[op])
      continue;
    guide.before[op] = 1;
    done[op] = 1;
    remaining.erase(std::lower_bound(remaining.begin(), remaining.end(), op));
    for (ValueId value : graph.problem.ops[op].results) {
      if (graph.rooted[op])
        becomePast(value);
      if (graph.problem.values[value].home == Home::Result)
        resident[value] = 1;
    }
  }
  everythingAvailable = true;
  borderCrossed = true;
  ++stamp;
  demanded.clear();
  for (OpId other : remaining)
    if (other != until)
      collectDemand(other);
  for (ValueId value : demanded)
    otherStamp[value] = stamp;
  collectDemand(until);
  pinReads({}, until);
  buildNodes(KeepCut::anyPrice);
  int64_t room = options.capBytes - transientBytes({}, until);
  room -= static_cast<int64_t>(options.reserve *
                               static_cast<double>(options.capBytes));
  KeepCut::Answer answer = chooseAnswer(room);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (cut.isKept(answer, i))
      guide.kept.push_back(nodes[i]);
  return guide;
}
