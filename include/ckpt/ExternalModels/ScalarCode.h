//===- ScalarCode.h - Code that makes elements of tensors -------*- C++ -*-===//
//
// Bodies of structured ops are emitted op by op, for one element or for several
// lanes. Which ops that works for is said here: planning and both lowerings
// ask.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_EXTERNALMODELS_SCALARCODE_H
#define CKPT_EXTERNALMODELS_SCALARCODE_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/Operation.h"

namespace ckpt {

/// A number that a register holds: no tensor, vector or buffer.
bool isScalar(Type type);

/// Whether \p op makes scalars of scalars, or takes one element of a tensor,
/// with no effect and no region.
bool isScalarCode(Operation *op);

/// Whether all ops of \p body do, up to its terminator.
bool isScalarCode(Block &body);

} // namespace ckpt

#endif // CKPT_EXTERNALMODELS_SCALARCODE_H
