//===- SavedBytesCut.h - PyTorch's minimum cut on saved bytes ---*- C++ -*-===//
//
// The saved values are a cut between the inputs of the forward pass and the
// reads of the backward pass; the cut of the fewest bytes recomputes everything
// behind it. Ops that must not be recomputed limit the ops behind the cut.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PUBLISHED_SAVEDBYTESCUT_H
#define CKPT_LIB_PLAN_PUBLISHED_SAVEDBYTESCUT_H

#include "ckpt/Plan/Problem.h"

namespace ckpt::plan {

class SavedBytesCut {
public:
  explicit SavedBytesCut(const Problem &problem);

  /// Ops that may not be recomputed. `Default` is the ban of budget 1:
  /// expensive ops, reductions to a quarter of their input or less, values that
  /// a backward op needs in memory, and values used again after an op that
  /// cannot be fused. `Expensive` bans contractions and opaque ops only.
  enum class Bans : uint8_t { Default, Expensive };
  std::vector<char> bansOf(Bans bans) const;

  struct Answer {
    /// By value: it is saved; it is made again behind the cut.
    std::vector<char> saved, remade;
    int64_t savedBytes = 0;
  };
  Answer solve(const std::vector<char> &banned) const;

  /// Sets on \p constrained, a copy of the problem, the demands of \p answer.
  void constrain(Problem &constrained, const Answer &answer) const;

private:
  /// One that is no view: cuts look through views.
  bool isForward(ValueId value) const;
  bool isFusible(OpId op) const;
  bool isMaterialized(ValueId value) const;
  void findUsers();
  void findDistances();
  int64_t weight(ValueId value) const;
  int64_t savedBytes(ValueId value) const;
  void banMaterializedBackward(std::vector<char> &banned) const;
  void banUsedFarApart(std::vector<char> &banned) const;
  OpId firstUnfusible(ValueId value, OpId last) const;

  const Problem &problem;
  /// By value: ops that read it, through views, in program order.
  std::vector<std::vector<OpId>> users;
  /// By value: the fewest reads between it and a backward op.
  std::vector<int32_t> distance;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PUBLISHED_SAVEDBYTESCUT_H
