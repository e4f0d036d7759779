//===- ElementwiseOutputs.h - Kernels without an anchor ---------*- C++ -*-===//
//
// The shape of such a kernel and the code of one of its elements, for the
// loops of the CPU and the threads of a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_ELEMENTWISEOUTPUTS_H
#define CKPT_LIB_CONVERSION_KERNEL_ELEMENTWISEOUTPUTS_H

#include "Conversion/Kernel/KernelCode.h"

namespace ckpt {

/// The type whose shape all outputs of a kernel without an anchor have.
mlir::RankedTensorType outputSpace(const KernelCode &code);
/// Emits and stores one element of each output of a kernel without an anchor.
LogicalResult emitElementwisePoint(KernelCode &code, TaskTarget &target,
                                   ElementEmitter &emitter,
                                   ArrayRef<LinearIndex> at);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_ELEMENTWISEOUTPUTS_H
