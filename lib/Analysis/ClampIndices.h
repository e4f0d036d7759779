//===- ClampIndices.h - Indices out of range in loops -----------*- C++ -*-===//
//
// The bufferization of ops without emitters (OpaqueBuffers.h) runs this first,
// in the planner's count of bytes and in the lowering.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_ANALYSIS_CLAMPINDICES_H
#define CKPT_LIB_ANALYSIS_CLAMPINDICES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Keeps the reads and writes of ops that are not made element by element
/// inside their tensors, whatever the indices are at run time.
void clampIndices(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_LIB_ANALYSIS_CLAMPINDICES_H
