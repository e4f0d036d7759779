//===- SnapshotDemand.h - Values that the rest of a plan needs --*- C++ -*-===//
//
// Before every kernel, the cut scheduler collects the values that the remaining
// roots demand, as far as they exist by now, and pins the values in memory that
// the next root reads.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_SNAPSHOTDEMAND_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_SNAPSHOTDEMAND_H

#include "Plan/Construct/KeepCut/MissingOperands.h"

namespace ckpt::plan {

class SnapshotDemand {
public:
  SnapshotDemand(const WalkState &state, const MissingOperands &missing);

  /// Collects the demand of all remaining roots but \p root, then of \p root,
  /// and pins the reads of \p root, before which \p pending is to be made. With
  /// \p allAtHand every value with a kernel of its own counts as being in
  /// memory.
  void collect(const std::vector<ValueId> &pending, OpId root, bool allAtHand);

  const std::vector<ValueId> &values() const { return demanded; }
  bool isDemanded(ValueId value) const { return isIn.has(value); }
  /// It stays in memory until the root has run.
  bool isPinned(ValueId value) const { return pinned.has(value); }
  /// Before the border: a root of the forward pass still needs it.
  bool isEarly(ValueId value) const { return early.has(value); }
  /// Bytes that the next kernel takes beyond its reads.
  int64_t kernelBytes(const std::vector<ValueId> &pending, OpId root) const;

private:
  void demand(ValueId value);
  void demandOf(OpId op);
  void demandOfOthers(OpId root);
  void collectEarly();
  void visitEarly(ValueId value);
  std::vector<ValueId> residentReads(OpId root);
  void pinReads(const std::vector<ValueId> &pending, OpId root);
  void releaseReads(const std::vector<ValueId> &pending, OpId root,
                    std::vector<ValueId> &reads);

  const WalkState &state;
  const RematGraph &graph;
  const MissingOperands &missing;
  bool allAtHand = false;
  std::vector<ValueId> demanded;
  /// Marks of values. Roots other than the next one demand `others`.
  Marks isIn, others, pinned, early, readValues;
  /// Marks of ops.
  Marks seenThrough, earlyOps, readOps;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_SNAPSHOTDEMAND_H
