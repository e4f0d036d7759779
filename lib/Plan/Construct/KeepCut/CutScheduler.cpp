//===- CutScheduler.cpp - The walk: order of roots and kernels ------------===//
//
// Order matters as much as recomputation: results are written as soon as they
// can be, weight gradients run at once so that what they read dies, and among
// the next few roots one that gives memory back goes first.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutScheduler.h"

#include "Plan/Construct/KeepCut/RootPriority.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

CutScheduler::CutScheduler(const RematGraph &graph)
    : graph(graph), hasRecompute(hasRecomputed(graph)),
      followers(findFollowers(graph)) {
  size_t numOps = graph.problem.ops.size();
  size_t numValues = graph.problem.values.size();
  for (auto *stamps : {&opStamp, &opNodeStamp, &wayStamp, &readOpMark})
    stamps->assign(numOps, 0);
  for (auto *stamps : {&valueStamp, &demandStamp, &otherStamp, &pinStamp,
                       &earlyStamp, &nodeStamp, &readValueMark})
    stamps->assign(numValues, 0);
  ways.resize(numOps);
  nodeIndex.resize(numValues);
  opIndex.resize(numOps);
  for (size_t op = 0; op < numOps; ++op) {
    bool any = false;
    for (ValueId value : graph.problem.ops[op].results)
      if (graph.live[op] && graph.node[value]) {
        nodesInOrder.push_back(value);
        any = true;
      }
    if (any)
      nodeOpsInOrder.push_back(static_cast<OpId>(op));
  }
}

void CutScheduler::start(const CutOptions &newOptions) {
  options = newOptions;
  result = CutSchedule();
  RootPriority ranks(graph, options.reorder);
  rank = std::move(ranks.rank);
  rootByRank = std::move(ranks.byRank);
  held = std::move(ranks.held);
  if (!options.delayHeld)
    std::fill(held.begin(), held.end(), 0);
  size_t numOps = graph.problem.ops.size();
  size_t numValues = graph.problem.values.size();
  resident.assign(numValues, 0);
  written.assign(numValues, 0);
  past.assign(numValues, 0);
  drops.assign(numValues, 0);
  droppedFor.assign(numValues, none);
  madeFor.assign(numValues, none);
  uses.assign(numValues, 0);
  done.assign(numOps, 0);
  pendingLeaves.assign(numOps, 0);
  again.assign(numOps, 0);
  for (OpId op : nodeOpsInOrder)
    again[op] =
        static_cast<int64_t>(static_cast<double>(againPs(op)) *
                             (1 + options.urgency * static_cast<double>(op) /
                                      static_cast<double>(numOps)));
  ready.clear();
  remaining = graph.roots;
  borderCrossed = !hasRecompute;
  everythingAvailable = false;
  overfull = 0;
  begun = none;
  newKernels = 0;
  lastPrice = 0;
  exceeded = false;
  extraFlops = 0;
  for (size_t op = 0; op < numOps; ++op)
    if (graph.live[op])
      pendingLeaves[op] = static_cast<int32_t>(graph.leaves[op].size());
  for (const std::vector<OpId> &after : followers)
    for (OpId op : after)
      ++pendingLeaves[op];
  for (size_t op = 0; op < numOps; ++op) {
    if (!graph.live[op] || pendingLeaves[op] > 0)
      continue;
    if (graph.isRoot[op])
      ready.insert(rank[op]);
    if (!graph.rooted[op])
      for (ValueId value : graph.problem.ops[op].results)
        if (graph.node[value])
          becomePast(value);
  }
}

/// Everything that \p value depends on has run, so from now on it can be made.
void CutScheduler::becomePast(ValueId value) {
  if (past[value])
    return;
  past[value] = 1;
  for (OpId reader : graph.readers[value]) {
    if (--pendingLeaves[reader] > 0)
      continue;
    if (graph.isRoot[reader] && !done[reader])
      ready.insert(rank[reader]);
    if (!graph.rooted[reader])
      for (ValueId made : graph.problem.ops[reader].results)
        if (graph.node[made])
          becomePast(made);
  }
}

/// Writes one kernel: \p op and everything between it and memory.
void CutScheduler::emit(OpId op, const std::vector<ValueId> &outputs) {
  Kernel kernel;
  kernel.outputs = outputs;
  std::vector<OpId> stack = {op};
  ++stamp;
  opStamp[op] = stamp;
  while (!stack.empty()) {
    OpId current = stack.back();
    stack.pop_back();
    kernel.ops.push_back(current);
    if (done[current] && isAnchor(graph.problem.ops[current]))
      extraFlops += graph.problem.ops[current].flops;
    for (const Read &read : graph.problem.ops[current].reads) {
      OpId producer = graph.problem.values[read.value].op;
      if (inMemory(read.value) || opStamp[producer] == stamp)
        continue;
      opStamp[producer] = stamp;
      stack.push_back(producer);
    }
  }
  std::sort(kernel.ops.begin(), kernel.ops.end());
  if (!borderCrossed) {
    for (OpId inside : kernel.ops)
      borderCrossed |= graph.problem.ops[inside].backward;
    if (borderCrossed)
      dropRecomputed();
  }
  result.plan.kernels.push_back(std::move(kernel));
  bool isNew = false;
  for (ValueId value : outputs) {
    isNew |= !written[value];
    resident[value] = written[value] = 1;
    madeFor[value] = turn;
  }
  newKernels += isNew;
}

void CutScheduler::emitRoot(OpId op) {
  std::vector<ValueId> outputs;
  for (ValueId value : graph.problem.ops[op].results) {
    bool isResult = graph.problem.values[value].home == Home::Result;
    if (isResult ||
        (graph.rooted[op] && (!graph.users[value].empty() ||
                              graph.problem.values[value].keep == Keep::Save)))
      outputs.push_back(value);
  }
  if (outputs.empty() && !graph.problem.ops[op].hasEffects)
    outputs.push_back(graph.problem.ops[op].results.front());
  emit(op, outputs);
  if (!done[op])
    finishRoot(op);
}

/// \p op has run for the first time, as it must.
void CutScheduler::finishRoot(OpId op) {
  done[op] = 1;
  ready.erase(rank[op]);
  remaining.erase(std::lower_bound(remaining.begin(), remaining.end(), op));
  result.rootOrder.push_back(op);
  result.rootKernel.push_back(static_cast<int32_t>(result.plan.kernels.size()) -
                              1);
  for (OpId next : followers[op])
    if (--pendingLeaves[next] == 0)
      ready.insert(rank[next]);
  if (graph.rooted[op])
    for (ValueId value : graph.problem.ops[op].results)
      becomePast(value);
}

void CutScheduler::emitValue(ValueId value) {
  OpId op = graph.problem.values[value].op;
  if (graph.rooted[op])
    return emitRoot(op);
  emit(op, {value});
  bool written = graph.isRoot[op] && !done[op];
  for (ValueId result : graph.problem.ops[op].results)
    written &=
        resident[result] || graph.problem.values[result].home != Home::Result;
  if (written)
    finishRoot(op);
}

/// The first kernel that holds a backward op may read what the forward pass
/// left; for those after it, nothing that they have to make again counts as
/// being in memory.
void CutScheduler::dropRecomputed() {
  for (size_t value = 0; value < resident.size(); ++value) {
    const Value &v = graph.problem.values[value];
    if (resident[value] && v.keep == Keep::Recompute && !graph.once[v.op])
      resident[value] = 0;
  }
}

/// Calls \p function for every value in memory that the kernel of \p op would
/// read, if all between were inside.
template <typename Function>
void CutScheduler::forEachResidentRead(OpId op, Function function) {
  ++stamp;
  std::vector<OpId> stack = {op};
  opStamp[op] = stamp;
  while (!stack.empty()) {
    OpId current = stack.back();
    stack.pop_back();
    for (const Leaf &leaf : graph.leaves[current]) {
      if (valueStamp[leaf.value] == stamp)
        continue;
      valueStamp[leaf.value] = stamp;
      if (resident[leaf.value]) {
        function(leaf.value);
        continue;
      }
      OpId producer = graph.problem.values[leaf.value].op;
      if (opStamp[producer] != stamp && past[leaf.value]) {
        opStamp[producer] = stamp;
        stack.push_back(producer);
      }
    }
  }
}

void CutScheduler::countUses() {
  std::fill(uses.begin(), uses.end(), 0);
  for (OpId root : remaining)
    forEachResidentRead(root, [&](ValueId value) { ++uses[value]; });
}

/// Bytes that \p root, with what is missing for it, adds to what stands in
/// memory.
int64_t CutScheduler::growth(OpId root) {
  int64_t bytes = 0;
  for (ValueId value : missing(root))
    bytes += graph.slot[value];
  for (ValueId value : graph.problem.ops[root].results)
    if (!graph.users[value].empty())
      bytes += graph.slot[value];
  forEachResidentRead(root, [&](ValueId value) {
    if (uses[value] == 1)
      bytes -= graph.slot[value];
  });
  return bytes;
}

bool CutScheduler::recomputesContraction(OpId root) {
  for (ValueId value : missing(root))
    if (graph.problem.ops[graph.problem.values[value].op].kind ==
        OpKind::Contraction)
      return true;
  return false;
}

bool CutScheduler::isDelayed(OpId root) const {
  if (!held[root])
    return false;
  int64_t bytes = 0;
  for (ValueId value : nodesInOrder)
    if (resident[value])
      bytes += graph.slot[value];
  for (ValueId value : graph.problem.ops[root].results)
    bytes += graph.slot[value];
  return bytes > options.capBytes;
}

OpId CutScheduler::pickRoot() {
  constexpr int lookahead = 8;
  OpId head = none;
  for (int32_t candidate : ready)
    if (head == none && !isDelayed(rootByRank[candidate]))
      head = rootByRank[candidate];
  if (head == none)
    return ready.empty() ? none : rootByRank[*ready.begin()];
  if (!options.reorder || ready.size() == 1)
    return head;
  countUses();
  int64_t best = growth(head);
  if (best <= 0)
    return head;
  OpId choice = head;
  bool writesFirst = !missing(head).empty();
  int seen = 0;
  for (int32_t candidate : ready) {
    OpId root = rootByRank[candidate];
    bool samePass = graph.late[root] == graph.late[head];
    if (++seen > lookahead || (hasRecompute && !samePass))
      break;
    if (root == head || held[root])
      continue;
    // What is written for the head may go over what others still read.
    if (writesFirst && makesLittle(graph, root) && missing(root).empty())
      return root;
    int64_t bytes = growth(root);
    if (samePass && bytes < std::min<int64_t>(best, 0) &&
        !recomputesContraction(root)) {
      best = bytes;
      choice = root;
    }
  }
  return choice;
}

/// What stands at most, roughly, while what has to be made for \p op is made,
/// and what of that it reads.
const CutScheduler::Way &CutScheduler::wayTo(OpId op) {
  Way &way = ways[op];
  if (std::exchange(wayStamp[op], stamp) == stamp)
    return way;
  way = Way();
  for (const Leaf &leaf : graph.leaves[op]) {
    if (resident[leaf.value])
      continue;
    const Way inner = wayTo(graph.problem.values[leaf.value].op);
    int64_t slot = isMadeFirst(leaf) ? graph.slot[leaf.value] : 0;
    way.peakBytes =
        std::max({way.peakBytes, inner.peakBytes, inner.operandBytes + slot});
    way.operandBytes += isMadeFirst(leaf) ? slot : inner.operandBytes;
  }
  return way;
}

/// What stands beside the value of \p leaf at most while it is made.
int64_t CutScheduler::besides(const Leaf &leaf) {
  const Way &way = wayTo(graph.problem.values[leaf.value].op);
  int64_t slot = graph.slot[leaf.value];
  return std::max(way.peakBytes - slot, way.operandBytes);
}

/// Adds what has to be in memory before \p op can run and is not, operands
/// before what they are needed for. Of several operands the one that is being
/// made comes first, then that on whose way most is made: the others need not
/// stand beside that (Sethi and Ullman, J. ACM 17, 1970).
void CutScheduler::addMissing(OpId op, Burst &burst) {
  constexpr int64_t begunFirst = std::numeric_limits<int64_t>::max();
  std::vector<std::pair<int64_t, const Leaf *>> operands;
  for (const Leaf &leaf : graph.leaves[op])
    if (!resident[leaf.value])
      operands.emplace_back(leaf.value == begun ? begunFirst : besides(leaf),
                            &leaf);
  std::stable_sort(operands.begin(), operands.end(),
                   [](const auto &left, const auto &right) {
                     return left.first > right.first;
                   });
  for (auto [most, leaf] : operands) {
    OpId maker = graph.problem.values[leaf->value].op;
    if (valueStamp[leaf->value] == stamp)
      continue;
    if (opStamp[maker] != stamp) {
      opStamp[maker] = stamp;
      addMissing(maker, burst);
    }
    if (isMadeFirst(*leaf) && valueStamp[leaf->value] != stamp) {
      valueStamp[leaf->value] = stamp;
      burst.push_back(leaf->value);
    }
  }
}

/// What has to be made before \p root can run, in order.
CutScheduler::Burst CutScheduler::missing(OpId root) {
  ++stamp;
  Burst burst;
  addMissing(root, burst);
  return burst;
}

/// The first of \p burst that the kernel of \p root itself reads.
ValueId CutScheduler::firstOperand(OpId root, const Burst &burst) const {
  for (ValueId value : burst)
    for (const Leaf &leaf : graph.leaves[root])
      if (leaf.value == value)
        return value;
  return none;
}

/// Whether the walk runs in circles: it recomputes far more than any plan worth
/// having, or has no room again and again.
bool CutScheduler::isHopeless() const {
  if (options.deadline.isOver() || (options.cutoff && options.cutoff->isOver()))
    return true;
  size_t roots = graph.roots.size();
  size_t expected = std::max(roots, newKernels);
  return result.plan.kernels.size() > options.kernelsPerNew * expected + 100 ||
         overfull > roots + 100 || extraFlops > options.mostExtraFlops;
}

CutSchedule CutScheduler::run(const CutOptions &newOptions) {
  start(newOptions);
  for (OpId root = pickRoot(); root != none; root = pickRoot()) {
    turn = root;
    Burst planned = missing(root);
    settle(planned, root);
    // A snapshot may write what was missing; then room for the root itself is
    // still to be made.
    for (Burst burst = missing(root); !burst.empty() || !planned.empty();
         burst = missing(root)) {
      if (!burst.empty()) {
        begun = firstOperand(root, burst);
        emitValue(burst.front());
      }
      if (isHopeless())
        return std::move(result);
      planned = missing(root);
      settle(planned, root);
    }
    begun = none;
    if (!done[root])
      emitRoot(root);
    if (isHopeless() && !remaining.empty())
      return std::move(result);
  }
  result.complete = remaining.empty();
  return std::move(result);
}
