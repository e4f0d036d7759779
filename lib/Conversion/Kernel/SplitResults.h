//===- SplitResults.h - Elementwise ops with several results ----*- C++ -*-===//
//
// Reading a kernel (KernelCode.h) begins with this, on both targets.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_SPLITRESULTS_H
#define CKPT_LIB_CONVERSION_KERNEL_SPLITRESULTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Makes each result of the elementwise ops of \p function that have several,
/// on tensors and on scalars, by ops of its own. Elements are emitted one by
/// one.
void splitResults(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_SPLITRESULTS_H
