//===- KernelFunction.h - Tensor code between buffers -----------*- C++ -*-===//
//
// How a kernel's inputs and outputs lie in memory, and the tensor code that
// reads and writes them there.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_EXTERNALMODELS_KERNELFUNCTION_H
#define CKPT_EXTERNALMODELS_KERNELFUNCTION_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/Builders.h"

namespace ckpt {

/// The tensor that stands in memory for a value: a scalar that a kernel made is
/// one without dimensions.
mlir::RankedTensorType tensorOf(Type type);

/// The type of a value in memory: an i1 takes a byte.
mlir::MemRefType memoryType(Type type);

/// The content of \p buffer as a value of \p type.
Value loadInput(OpBuilder &builder, Location loc, Type type, Value buffer);

/// Leaves \p value in \p buffer.
void storeOutput(OpBuilder &builder, Location loc, Value value, Value buffer);

} // namespace ckpt

#endif // CKPT_EXTERNALMODELS_KERNELFUNCTION_H
