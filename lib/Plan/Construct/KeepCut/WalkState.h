//===- WalkState.h - A walk so far: its kernels and its memory --*- C++ -*-===//
//
// The cut scheduler emits kernels one by one. The state says which roots have
// run, which values stand in memory and which roots can run next. All parts of
// the scheduler read it; only its own functions and `CutScheduler` change it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_WALKSTATE_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_WALKSTATE_H

#include "Plan/Construct/KeepCut/CutOptions.h"
#include "Plan/Construct/KeepCut/Marks.h"
#include "Plan/Model/RematGraph.h"

#include <set>

namespace ckpt::plan {

struct WalkState {
  explicit WalkState(const RematGraph &graph);

  /// Forgets the walk before.
  void start(const CutOptions &options);
  /// Runs \p op in a kernel that writes all results with readers.
  void emitRoot(OpId op);
  /// Writes \p value, which a kernel of its own makes.
  void emitValue(ValueId value);
  /// Takes \p value out of memory.
  void drop(ValueId value);
  /// Assumes that the root \p op has run.
  void assumeRun(OpId op);

  bool inMemory(ValueId value) const {
    return graph.isFree(value) || resident[value];
  }
  /// It is a result and stands in memory to the end at no cost.
  bool isWritten(ValueId value) const {
    return resident[value] && graph.problem.values[value].home == Home::Result;
  }
  /// Whether a kernel of its own makes the leaf.
  bool isMadeFirst(const Leaf &leaf) const {
    return leaf.memory || graph.rooted[makerOf(leaf.value)];
  }
  bool runsOnce(OpId op) const {
    return graph.once[op] || (options.runOnce && (*options.runOnce)[op]);
  }
  OpId makerOf(ValueId value) const { return graph.problem.values[value].op; }

  const RematGraph &graph;
  /// Some value has to be made again by the backward pass.
  const bool hasRecompute;
  CutOptions options;
  CutSchedule schedule;

  /// Per op: its place in the order of roots, and the op at each place.
  std::vector<int32_t> rank;
  std::vector<OpId> rootByRank;
  /// Per op: see `CutOptions::delayHeld`.
  std::vector<char> held;

  /// Per value: it stands in memory; it can be made from roots that have run.
  std::vector<char> resident, past;
  /// Per op: the root has run.
  std::vector<char> done;
  /// Roots that have not run, ascending, and the ranks of those that can.
  std::vector<OpId> remaining;
  std::set<int32_t> ready;
  /// A kernel with a backward op has run, or there is no need to know.
  bool borderCrossed = false;
  /// The root that runs next.
  OpId turn = none;
  /// Per value: `turn` when it was last written and when it was last dropped.
  std::vector<OpId> madeFor, droppedFor;
  /// Kernels that wrote a value for the first time.
  size_t newKernels = 0;
  int64_t extraFlops = 0;

private:
  void findReady();
  void emit(OpId op, const std::vector<ValueId> &outputs);
  std::vector<OpId> opsInside(OpId op);
  void finishRoot(OpId op);
  void becomePast(ValueId value);
  void release(OpId op);
  void dropRecomputed();

  /// Per op: see `findFollowers`.
  const std::vector<std::vector<OpId>> followers;
  /// Per op: leaves and roots before it that are not past.
  std::vector<int32_t> pendingLeaves;
  /// Per value: it has been in memory.
  std::vector<char> written;
  Marks inside; // ops
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_WALKSTATE_H
