//===- Act.h - Activations of somebody else ---------------------*- C++ -*-===//

#ifndef ACT_ACT_H
#define ACT_ACT_H

#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "ActDialect.h.inc"

#define GET_OP_CLASSES
#include "ActOps.h.inc"

namespace act {
/// Registers `--act-to-linalg`.
void registerLowering();
} // namespace act

#endif // ACT_ACT_H
