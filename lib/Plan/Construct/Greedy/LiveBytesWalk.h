//===- LiveBytesWalk.h - Greedy remats of kernels ---------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_GREEDY_LIVEBYTESWALK_H
#define CKPT_LIB_PLAN_CONSTRUCT_GREEDY_LIVEBYTESWALK_H

#include "Plan/Model/KernelGraph.h"

namespace ckpt::plan {

struct WalkOptions {
  /// Kernels that are made again together at most.
  size_t mostInBlock = 1;
  /// Takes the block that frees most bytes per time, not most bytes.
  bool weighTime = false;
};

/// Walks along the schedule. While more than \p limitBytes are live at a kernel
/// (outputs over dying inputs do not count), moves or repeats earlier ones
/// behind it.
std::vector<KernelRun> walk(const KernelGraph &graph, int64_t limitBytes,
                            const WalkOptions &options);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_GREEDY_LIVEBYTESWALK_H
