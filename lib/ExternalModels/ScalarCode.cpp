//===- ScalarCode.cpp - Code that makes elements of tensors ---------------===//

#include "ckpt/ExternalModels/ScalarCode.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace ckpt;

bool ckpt::isScalar(Type type) {
  return type.isIntOrIndexOrFloat() || isa<mlir::ComplexType>(type);
}

bool ckpt::isScalarCode(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() == 0 ||
      !mlir::isMemoryEffectFree(op))
    return false;
  bool takesElement = isa<mlir::tensor::ExtractOp>(op);
  return llvm::all_of(op->getResultTypes(), isScalar) &&
         llvm::all_of(
             op->getOperands().drop_front(takesElement),
             [](Value operand) { return isScalar(operand.getType()); });
}

bool ckpt::isScalarCode(Block &body) {
  return llvm::all_of(body.without_terminator(),
                      [](Operation &op) { return isScalarCode(&op); });
}
