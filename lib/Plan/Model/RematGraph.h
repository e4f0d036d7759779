//===- RematGraph.h - The graph that searches see ---------------*- C++ -*-===//
//
// Searches do not look at ops one by one. They see the values that may stand in
// memory ("nodes") and, for every op, the nodes that its kernel reads when
// everything between is computed inside ("leaves"). Each search builds it once.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_REMATGRAPH_H
#define CKPT_LIB_PLAN_MODEL_REMATGRAPH_H

#include "ckpt/Plan/Problem.h"

namespace ckpt::plan {

/// Bytes of the slot of a value; 0 for a value outside of the arena.
int64_t arenaBytes(const Problem &problem, ValueId value);

/// Whether \p op needs \p read in memory.
inline bool isMemoryRead(const Op &op, const Read &read) {
  return read.need != Need::Inline || op.kind == OpKind::Opaque;
}

/// A node that the kernel of an op reads, directly or through ops inside it.
struct Leaf {
  ValueId value;
  /// It has to stand in memory; otherwise it may be computed inside as well.
  bool memory;
};

struct RematGraph {
  RematGraph(const Problem &problem, bool fusion);

  const Problem &problem;
  /// Why no plan can obey the demands on values, or empty.
  std::string error;

  /// Per op: some function result or effect depends on it.
  std::vector<char> live;
  /// Per op: it has a kernel of its own: an anchor, an op that no reader may
  /// compute inside because it may run only once, or a fusible op whose result
  /// another one needs in memory. A stencil has no anchors: without the last,
  /// nothing in it would be decided before its end.
  std::vector<char> rooted;
  /// Per op: it may not run twice.
  std::vector<char> once;
  /// Per op: it is part of the backward pass or reads something that is.
  std::vector<char> late;
  /// Per value: it may stand in memory (never true of arguments).
  std::vector<char> node;
  /// Per value: some op needs it in memory.
  std::vector<char> memoryRead;
  /// Per value: all uses end, by one-to-one reads, in function results, so its
  /// kernel can write these instead of the value.
  std::vector<char> foldable;
  /// Per value: bytes of its slot, 0 if it needs none.
  std::vector<int64_t> slot;
  /// Per op: leaves in order of first appearance, each once.
  std::vector<std::vector<Leaf>> leaves;
  /// Per node: ops with a kernel of their own or a node, whose leaves hold it.
  std::vector<std::vector<OpId>> readers;
  /// Per op: arithmetic of one execution with everything between it and its
  /// leaves, in picoseconds.
  std::vector<int64_t> chainPs;
  /// Per op: bytes of the arguments that it reads, with everything between it
  /// and its leaves.
  std::vector<int64_t> argumentBytes;
  /// Ops that have to be executed: live rooted ops and producers of results,
  /// in program order.
  std::vector<OpId> roots;
  std::vector<char> isRoot;
  /// Per value: live ops that read it.
  std::vector<std::vector<OpId>> users;

  /// Time to move \p bytes, in picoseconds.
  int64_t movePs(int64_t bytes) const {
    return static_cast<int64_t>(static_cast<double>(bytes) * 1e6 /
                                problem.bytesPerMicrosecond);
  }
  bool isView(ValueId value) const {
    return problem.values[value].op != none &&
           problem.ops[problem.values[value].op].kind == OpKind::View;
  }
  bool isFree(ValueId value) const {
    return problem.values[value].home == Home::Argument;
  }
  /// The value whose place \p value takes where both lie in the arena: that of
  /// which it shows all, maybe in another order; or itself.
  ValueId wholeOf(ValueId value) const;
  /// The value that has to stand in memory for \p read, or `none` if it is an
  /// argument (seen through views).
  ValueId memoryTarget(const Read &read) const;
  /// Evaluations that \p op needs of each op computed inside it.
  int64_t iterations(OpId op) const;
  /// The same, per element of \p value.
  double ratio(int64_t evaluations, ValueId value) const;

private:
  /// Per op: all readers have to find its results in memory (findTorn).
  std::vector<char> torn;

  void findLive();
  void findLate();
  void findNodes(bool fusion);
  void findFoldable();
  void collectLeaves();
  void collectLeavesOf(OpId op);
  void findTorn();
  bool wouldTear(OpId op) const;
  std::vector<OpId> memoryReadersOf(std::vector<ValueId> values) const;
  std::vector<OpId> kernelsWith(std::vector<OpId> ops) const;
  void findConflicts();
  bool isWorthKeeping(ValueId value) const;
  OpId resultsWaitFor(ValueId value, const std::vector<OpId> &lastRoot,
                      const std::vector<OpId> &waitsFor) const;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_REMATGRAPH_H
