//===- SnapshotDemand.cpp - Values that the rest of a plan needs ----------===//
//
// Searches from the remaining roots back to the first values that exist by now.
// Values that the future makes are seen through.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/SnapshotDemand.h"

#include "Plan/Construct/KeepCut/Overwrite.h"

#include <algorithm>

using namespace ckpt::plan;

SnapshotDemand::SnapshotDemand(const WalkState &state,
                               const MissingOperands &missing)
    : state(state), graph(state.graph), missing(missing),
      isIn(graph.problem.values.size()), others(graph.problem.values.size()),
      pinned(graph.problem.values.size()), early(graph.problem.values.size()),
      readValues(graph.problem.values.size()),
      seenThrough(graph.problem.ops.size()), earlyOps(graph.problem.ops.size()),
      readOps(graph.problem.ops.size()) {}

void SnapshotDemand::demand(ValueId value) {
  if (!state.isWritten(value) && isIn.insert(value))
    demanded.push_back(value);
}

/// Demands the values that the kernel of \p op will read.
void SnapshotDemand::demandOf(OpId op) {
  std::vector<OpId> stack = {op};
  seenThrough.insert(op);
  while (!stack.empty()) {
    OpId current = stack.back();
    stack.pop_back();
    for (const Leaf &leaf : graph.leaves[current]) {
      OpId maker = state.makerOf(leaf.value);
      if (state.past[leaf.value])
        demand(leaf.value);
      else if (!graph.rooted[maker] && seenThrough.insert(maker))
        stack.push_back(maker);
    }
  }
}

/// Demands the values of all roots but \p root, up to the guide if there is
/// one.
void SnapshotDemand::demandOfOthers(OpId root) {
  const Guide *guide = state.options.guide;
  bool isGuided = guide && !state.done[guide->until];
  for (OpId other : state.remaining)
    if (other != root && (!isGuided || guide->before[other]))
      demandOf(other);
  if (!isGuided)
    return;
  for (ValueId value : guide->kept) {
    if (state.past[value])
      demand(value);
    else
      demandOf(state.makerOf(value));
  }
}

void SnapshotDemand::visitEarly(ValueId value) {
  std::vector<ValueId> stack = {value};
  while (!stack.empty()) {
    ValueId next = stack.back();
    stack.pop_back();
    if (!state.past[next] || !early.insert(next) || state.resident[next])
      continue;
    for (const Leaf &leaf : graph.leaves[state.makerOf(next)])
      stack.push_back(leaf.value);
  }
}

/// Before the border: finds the values that roots of the forward pass still
/// need. Of the values that the backward pass has to make again, only these may
/// stay in memory.
void SnapshotDemand::collectEarly() {
  std::vector<OpId> ops;
  for (OpId root : state.remaining)
    if (!graph.late[root])
      ops.push_back(root);
  for (size_t i = 0; i < ops.size(); ++i)
    for (const Leaf &leaf : graph.leaves[ops[i]]) {
      OpId maker = state.makerOf(leaf.value);
      if (state.past[leaf.value])
        visitEarly(leaf.value);
      else if (!graph.rooted[maker] && earlyOps.insert(maker))
        ops.push_back(maker);
    }
}

/// Values in memory that \p root, with its missing operands, reads.
std::vector<ValueId> SnapshotDemand::residentReads(OpId root) {
  std::vector<ValueId> reads;
  readOps.clear();
  readValues.clear();
  std::vector<OpId> stack = {root};
  readOps.insert(root);
  while (!stack.empty()) {
    OpId op = stack.back();
    stack.pop_back();
    for (const Leaf &leaf : graph.leaves[op]) {
      OpId maker = state.makerOf(leaf.value);
      if (state.resident[leaf.value] ||
          (allAtHand && state.isMadeFirst(leaf))) {
        if (readValues.insert(leaf.value))
          reads.push_back(leaf.value);
      } else if (readOps.insert(maker)) {
        stack.push_back(maker);
      }
    }
  }
  return reads;
}

/// Pins the values that have to stay until \p root has run.
void SnapshotDemand::pinReads(const std::vector<ValueId> &pending, OpId root) {
  std::vector<ValueId> reads = residentReads(root);
  int64_t bytes = kernelBytes(pending, root);
  for (ValueId value : reads)
    bytes += graph.slot[value];
  if (!pending.empty() && bytes > state.options.capBytes)
    releaseReads(pending, root, reads);
  for (ValueId value : reads)
    pinned.insert(value);
}

/// Takes from \p reads, which leave no room for \p pending, the values that may
/// be made again afterwards. A value that was made for the root goes only if
/// the operand that is being made does not need it, and no value is dropped
/// twice for one root: the root does run in the end.
void SnapshotDemand::releaseReads(const std::vector<ValueId> &pending,
                                  OpId root, std::vector<ValueId> &reads) {
  std::vector<ValueId> next = residentReads(state.makerOf(pending.front()));
  ValueId operand = missing.firstRead(root, pending);
  residentReads(operand == none ? root : state.makerOf(operand));
  auto mayGo = [&](ValueId value) {
    return state.droppedFor[value] != root &&
           (state.madeFor[value] != root || !readValues.has(value));
  };
  reads.erase(std::remove_if(reads.begin(), reads.end(), mayGo), reads.end());
  reads.insert(reads.end(), next.begin(), next.end());
}

int64_t SnapshotDemand::kernelBytes(const std::vector<ValueId> &pending,
                                    OpId root) const {
  OpId id = pending.empty() ? root : state.makerOf(pending.front());
  const Op &op = graph.problem.ops[id];
  int64_t bytes = slotBytes(op.workspaceBytes);
  for (ValueId value : op.results) {
    bool isWritten = pending.empty()
                         ? graph.rooted[id] && !graph.users[value].empty()
                         : value == pending.front();
    if (isWritten &&
        !mayOverwrite(
            graph, value,
            [&](ValueId read) { return state.resident[read] != 0; },
            [&](ValueId read) { return others.has(read); }))
      bytes += graph.slot[value];
  }
  return bytes;
}

void SnapshotDemand::collect(const std::vector<ValueId> &pending, OpId root,
                             bool everythingAtHand) {
  allAtHand = everythingAtHand;
  demanded.clear();
  for (Marks *marks :
       {&isIn, &others, &pinned, &early, &seenThrough, &earlyOps})
    marks->clear();
  demandOfOthers(root);
  for (ValueId value : demanded)
    others.insert(value);
  demandOf(root);
  if (!state.borderCrossed)
    collectEarly();
  pinReads(pending, root);
}
