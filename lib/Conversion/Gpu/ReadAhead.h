//===- ReadAhead.h - Loads before arithmetic --------------------*- C++ -*-===//
//
// Memory answers hundreds of cycles after a thread asks. `ptxas` lets later
// loads overtake arithmetic, but neither the branches that it makes of a
// division nor stores, so the order in which a kernel is emitted decides how
// many loads are in flight. `--ckpt-emit-gpu-kernels` calls this for each
// kernel without a contraction; contractions have an order of their own.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_READAHEAD_H
#define CKPT_LIB_CONVERSION_GPU_READAHEAD_H

#include "Conversion/Gpu/GpuThread.h"

namespace ckpt {

/// Makes several steps of each innermost loop of \p function at a time, then
/// moves loads in front of the arithmetic of their block: more of them for each
/// thread if \p size has few threads.
mlir::LogicalResult readAhead(mlir::gpu::GPUFuncOp function,
                              const LaunchSize &size);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_READAHEAD_H
