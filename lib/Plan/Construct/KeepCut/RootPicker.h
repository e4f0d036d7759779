//===- RootPicker.h - The root that runs next -------------------*- C++ -*-===//
//
// The cut scheduler asks for the next root whenever one has run. Among the next
// few roots by rank, one that gives memory back goes first.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTPICKER_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTPICKER_H

#include "Plan/Construct/KeepCut/MissingOperands.h"

namespace ckpt::plan {

class RootPicker {
public:
  RootPicker(const WalkState &state, MissingOperands &missing)
      : state(state), graph(state.graph), missing(missing),
        seenOps(graph.problem.ops.size()),
        seenValues(graph.problem.values.size()) {}

  /// `none` if no root is ready.
  OpId pick();

private:
  OpId head() const;
  bool isDelayed(OpId root) const;
  void countUses();
  int64_t growth(OpId root);
  bool recomputesContraction(OpId root);
  template <typename Function>
  void forEachResidentRead(OpId op, Function function);

  const WalkState &state;
  const RematGraph &graph;
  MissingOperands &missing;
  /// Per value: remaining roots that read it.
  std::vector<int32_t> uses;
  Marks seenOps, seenValues;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTPICKER_H
