//===- UnreadTensors.h - Operands that only have a shape --------*- C++ -*-===//

#ifndef CKPT_EXTERNALMODELS_UNREADTENSORS_H
#define CKPT_EXTERNALMODELS_UNREADTENSORS_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/Operation.h"

namespace ckpt {

/// Tensors among the operands of \p op, a linalg op, of which its body uses no
/// element, such as a destination that is overwritten: only their shapes
/// matter. Empty for other ops.
SmallVector<Value> unreadTensors(Operation *op);

} // namespace ckpt

#endif // CKPT_EXTERNALMODELS_UNREADTENSORS_H
