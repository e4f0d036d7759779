//===- XlaRemat.h - Remats as XLA chooses them ------------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_GREEDY_XLAREMAT_H
#define CKPT_LIB_PLAN_CONSTRUCT_GREEDY_XLAREMAT_H

#include "Plan/Model/KernelGraph.h"

namespace ckpt::plan {

struct XlaRematOptions {
  /// Kernels that are made again together at most.
  size_t mostInBlock = 1;
  /// Takes the block that frees most bytes per time, not most bytes.
  bool weighTime = false;
};

/// Walks along the schedule. While more than \p limitBytes are live at a kernel
/// (outputs over dying inputs do not count), moves or repeats earlier ones
/// behind it.
std::vector<KernelRun> rematLikeXla(const KernelGraph &graph,
                                    int64_t limitBytes,
                                    const XlaRematOptions &options);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_GREEDY_XLAREMAT_H
