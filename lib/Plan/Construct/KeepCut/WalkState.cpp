//===- WalkState.cpp - The kernels of a walk and their effects ------------===//
//
// A kernel holds an op and everything between it and memory. Once all leaves of
// a root are past, the root can run.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/WalkState.h"

#include "Plan/Construct/KeepCut/RootPriority.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

WalkState::WalkState(const RematGraph &graph)
    : graph(graph), hasRecompute(hasRecomputed(graph)),
      followers(findFollowers(graph)), inside(graph.problem.ops.size()) {}

void WalkState::start(const CutOptions &newOptions) {
  options = newOptions;
  schedule = CutSchedule();
  RootPriority priority(graph, options.reorder);
  rank = std::move(priority.rank);
  rootByRank = std::move(priority.byRank);
  held = std::move(priority.held);
  if (!options.delayHeld)
    std::fill(held.begin(), held.end(), 0);
  size_t numOps = graph.problem.ops.size();
  size_t numValues = graph.problem.values.size();
  for (auto *flags : {&resident, &written, &past})
    flags->assign(numValues, 0);
  for (auto *turns : {&madeFor, &droppedFor})
    turns->assign(numValues, none);
  done.assign(numOps, 0);
  remaining = graph.roots;
  borderCrossed = !hasRecompute;
  turn = none;
  newKernels = 0;
  extraFlops = 0;
  findReady();
}

/// Finds the roots and values that need no root to run before them.
void WalkState::findReady() {
  size_t numOps = graph.problem.ops.size();
  ready.clear();
  pendingLeaves.assign(numOps, 0);
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

/// All roots that \p value depends on have run: from now on it can be made.
void WalkState::becomePast(ValueId value) {
  if (past[value])
    return;
  past[value] = 1;
  for (OpId reader : graph.readers[value])
    release(reader);
}

/// One of the leaves or roots that \p op waits for has run.
void WalkState::release(OpId op) {
  if (--pendingLeaves[op] > 0)
    return;
  if (graph.isRoot[op] && !done[op])
    ready.insert(rank[op]);
  if (!graph.rooted[op])
    for (ValueId made : graph.problem.ops[op].results)
      if (graph.node[made])
        becomePast(made);
}

/// \p op and all ops between it and memory, in program order.
std::vector<OpId> WalkState::opsInside(OpId op) {
  std::vector<OpId> ops = {op};
  inside.clear();
  inside.insert(op);
  for (size_t i = 0; i < ops.size(); ++i)
    for (const Read &read : graph.problem.ops[ops[i]].reads)
      if (!inMemory(read.value) && inside.insert(makerOf(read.value)))
        ops.push_back(makerOf(read.value));
  std::sort(ops.begin(), ops.end());
  return ops;
}

void WalkState::emit(OpId op, const std::vector<ValueId> &outputs) {
  Kernel kernel;
  kernel.outputs = outputs;
  kernel.ops = opsInside(op);
  bool isBackward = false;
  for (OpId id : kernel.ops) {
    const Op &o = graph.problem.ops[id];
    isBackward |= o.backward;
    if (done[id] && isAnchor(o))
      extraFlops += o.flops;
  }
  if (!borderCrossed && isBackward) {
    borderCrossed = true;
    dropRecomputed();
  }
  schedule.plan.kernels.push_back(std::move(kernel));
  bool isNew = false;
  for (ValueId value : outputs) {
    isNew |= !written[value];
    resident[value] = written[value] = 1;
    madeFor[value] = turn;
  }
  newKernels += isNew;
}

void WalkState::emitRoot(OpId op) {
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

/// Enters that \p op has run for the first time, as it must.
void WalkState::finishRoot(OpId op) {
  done[op] = 1;
  ready.erase(rank[op]);
  remaining.erase(std::lower_bound(remaining.begin(), remaining.end(), op));
  schedule.rootOrder.push_back(op);
  schedule.rootKernel.push_back(
      static_cast<int32_t>(schedule.plan.kernels.size()) - 1);
  for (OpId next : followers[op])
    release(next);
  if (graph.rooted[op])
    for (ValueId value : graph.problem.ops[op].results)
      becomePast(value);
}

void WalkState::emitValue(ValueId value) {
  OpId op = makerOf(value);
  if (graph.rooted[op])
    return emitRoot(op);
  emit(op, {value});
  bool isFinished = graph.isRoot[op] && !done[op];
  for (ValueId result : graph.problem.ops[op].results)
    isFinished &=
        resident[result] || graph.problem.values[result].home != Home::Result;
  if (isFinished)
    finishRoot(op);
}

void WalkState::drop(ValueId value) {
  resident[value] = 0;
  droppedFor[value] = turn;
}

/// The first kernel that holds a backward op may read values of the forward
/// pass. Later kernels may not read those that they have to make again, so that
/// these no longer count as being in memory.
void WalkState::dropRecomputed() {
  for (size_t value = 0; value < resident.size(); ++value) {
    const Value &v = graph.problem.values[value];
    if (resident[value] && v.keep == Keep::Recompute && !graph.once[v.op])
      resident[value] = 0;
  }
}

void WalkState::assumeRun(OpId op) {
  done[op] = 1;
  remaining.erase(std::lower_bound(remaining.begin(), remaining.end(), op));
  for (ValueId value : graph.problem.ops[op].results) {
    if (graph.rooted[op])
      becomePast(value);
    if (graph.problem.values[value].home == Home::Result)
      resident[value] = 1;
  }
}
