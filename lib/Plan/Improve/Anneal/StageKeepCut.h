//===- StageKeepCut.h - The cut before one stage ----------------*- C++ -*-===//
//
// The cut of KeepCut.h for plans with fixed kernels: later stages demand values
// of earlier ones, and the cut chooses which of them are kept across one stage
// and which are made again. The annealing starts from its answer, which often
// is an optimum.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_ANNEAL_STAGEKEEPCUT_H
#define CKPT_LIB_PLAN_IMPROVE_ANNEAL_STAGEKEEPCUT_H

#include "Plan/Improve/Anneal/Retention.h"
#include "Plan/Model/KeepCut.h"

namespace ckpt::plan {

class StageKeepCut {
public:
  explicit StageKeepCut(const KernelGraph &graph);

  /// Drops from \p state the values that the best price of a byte drops: values
  /// kept into \p stage, with the kernel of the stage, take at most \p bytes.
  void apply(Retention &state, int32_t stage, int64_t bytes);

private:
  void collect(const Retention &state, int32_t stage);
  void buildNetwork(const Retention &state, int32_t stage);
  double highestPrice() const;

  const KernelGraph &graph;
  /// Time of all kernels together, in picoseconds.
  int64_t totalPs = 0;
  /// Per value.
  std::vector<char> demanded, reached, pinned;
  /// The values and kernels of the network, and per value and kernel its place
  /// among them, or `none`.
  std::vector<ValueId> nodes;
  std::vector<int32_t> makers, nodeIndex, makerIndex;
  KeepCut cut;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_ANNEAL_STAGEKEEPCUT_H
