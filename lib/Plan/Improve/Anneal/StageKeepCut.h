//===- StageKeepCut.h - What to keep into one stage -------------*- C++ -*-===//
//
// The snapshot of docs/Rationale/Planning.md for plans with fixed kernels: what
// the stages that come need of those that ran is kept across one stage, or made
// again later. One minimum cut per price of a byte. A good place to start a
// local search from, and often an optimum already.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_ANNEAL_STAGEKEEPCUT_H
#define CKPT_LIB_PLAN_IMPROVE_ANNEAL_STAGEKEEPCUT_H

#include "Plan/Improve/Anneal/Retention.h"
#include "Plan/Model/MinCut.h"

namespace ckpt::plan {

class StageKeepCut {
public:
  explicit StageKeepCut(const KernelGraph &graph);

  /// Drops from \p state what a byte's best price drops, so that what is kept
  /// into \p stage, with the kernel of the stage, takes at most \p bytes.
  void apply(Retention &state, int32_t stage, int64_t bytes);

private:
  struct Answer {
    std::vector<ValueId> dropped;
    double costNs = 0, bytes = 0;
  };
  void collect(const Retention &state, int32_t stage);
  Answer solve(const Retention &state, double price);

  const KernelGraph &graph;
  const int32_t values;
  std::vector<char> demanded, reached, pinned; // per value
  int32_t stageNow = 0;
  MinCut cut;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_ANNEAL_STAGEKEEPCUT_H
