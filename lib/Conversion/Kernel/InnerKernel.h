//===- InnerKernel.h - Reductions inside of loops as kernels ----*- C++ -*-===//
//
// A loop that stays one op is bufferized as a whole. A reduction in its body, a
// matmul above all, is emitted as a kernel of its own would be, in the same
// order: on the CPU in register tiles, on a GPU by the threads of a block.
// `bufferizeOpaqueKernel` and `emitGpuOpaque` call this after bufferization.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_INNERKERNEL_H
#define CKPT_LIB_CONVERSION_KERNEL_INNERKERNEL_H

#include "Conversion/Kernel/KernelCode.h"

namespace ckpt {

/// The op \p site, on buffers, as the tensor code of a kernel that is emitted
/// in its place; nothing if it reduces nothing, has no emitter, or if a buffer
/// is not one contiguous piece of memory.
std::optional<KernelCode> readInnerKernel(mlir::linalg::LinalgOp site);

/// A target whose memory is that of the operands of the site of \p code.
TaskTarget enterSite(KernelCode &code, mlir::ImplicitLocOpBuilder &builder);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_INNERKERNEL_H
