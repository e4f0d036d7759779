//===- CutCosts.h - Costs of a keep-or-recompute cut ------------*- C++ -*-===//
//
// The cut scheduler, the guides of the list scheduler and its eviction weigh
// values by the same costs.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTCOSTS_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTCOSTS_H

#include "Plan/Model/RematGraph.h"

namespace ckpt::plan {

/// Costs as solvers see them. The defaults win FLOPs.
struct CostWeights {
  /// Price of keeping a byte even if there is room, in moves of a byte.
  double floorPrice = 1.5;
  /// Recomputed contractions count as this many times their time.
  double contractionWeight = 8;
  /// Weight of the additional bytes that readers of an inlined value read.
  double readWeight = 0.5;
};

/// Time that computing \p op again costs, inside its readers or by a kernel, in
/// picoseconds.
int64_t recomputePs(const RematGraph &graph, OpId op,
                    const CostWeights &weights);
/// Time that writing the fusible \p value costs, in picoseconds. A value that
/// was written and dropped \p drops times costs more: no walk writes it over
/// and over.
double writePs(const RematGraph &graph, ValueId value, int32_t drops = 0);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTCOSTS_H
