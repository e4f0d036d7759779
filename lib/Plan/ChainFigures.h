//===- ChainFigures.h - What the stages of a chain cost ---------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CHAINFIGURES_H
#define CKPT_LIB_PLAN_CHAINFIGURES_H

#include "ChainTable.h"

namespace ckpt::plan {

/// Stages of \p graph, one per op: one begins where less passes to what
/// follows than just before and after, and of more than \p most such places at
/// the narrowest of every few.
struct KernelStages {
  KernelStages(const KernelGraph &graph, int32_t most);

  std::vector<int32_t> ofOp;
  int32_t count = 0;
};

/// Plays parts of \p chain, kernel by kernel, as `followSteps` runs them.
ChainCosts measureChain(const KernelChain &chain);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CHAINFIGURES_H
