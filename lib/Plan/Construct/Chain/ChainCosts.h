//===- ChainCosts.h - Costs of the stages of a chain ------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINCOSTS_H
#define CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINCOSTS_H

#include "Plan/Construct/Chain/ChainTable.h"

namespace ckpt::plan {

/// Stages of \p graph, one per op.
struct KernelStages {
  /// The places at which stages may begin.
  enum class Places : uint8_t {
    /// Where fewer bytes pass to later kernels than just before and just after.
    Narrow,
    /// At every kernel.
    All,
  };
  /// Of more than \p most places, takes the narrowest of every few.
  KernelStages(const KernelGraph &graph, Places places, int32_t most);

  std::vector<int32_t> ofOp;
  int32_t count = 0;
};

/// Plays parts of \p chain, kernel by kernel, as `followSteps` runs them.
ChainCosts measureChain(const KernelChain &chain);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINCOSTS_H
