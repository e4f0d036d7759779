//===- BufferizeOpaque.h - Kernels of loops and of unknown ops --*- C++ -*-===//
//
// The first step of both targets for a kernel that is not made element by
// element; the reductions in it are emitted afterwards (InnerKernel.h).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_BUFFERIZEOPAQUE_H
#define CKPT_LIB_CONVERSION_KERNEL_BUFFERIZEOPAQUE_H

#include "Conversion/Kernel/KernelCode.h"

namespace ckpt {

/// Bufferizes kernels that are not made element by element; their reductions
/// stay ops of linalg.
LogicalResult bufferizeOpaqueKernel(KernelCode &code);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_BUFFERIZEOPAQUE_H
