//===- ValueShape.cpp - How much memory a value takes ---------------------===//

#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/IR/Diagnostics.h"

using namespace ckpt;

/// No machine has as much, and 64 bits count thousands of such tensors.
constexpr int64_t largestBytes = int64_t{1} << 50;

static std::optional<int64_t> bytesOfElement(Type type) {
  if (type.isIndex())
    return 8;
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(
        llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  if (auto pair = dyn_cast<mlir::ComplexType>(type))
    if (auto part = bytesOfElement(pair.getElementType()))
      return 2 * *part;
  return std::nullopt;
}

static mlir::InFlightDiagnostic errorAt(Value value) {
  if (Operation *op = value.getDefiningOp())
    return op->emitOpError();
  return mlir::emitError(value.getLoc())
         << "argument " << cast<BlockArgument>(value).getArgNumber() << ": ";
}

FailureOr<ValueShape> ckpt::shapeOfValue(Value value) {
  Type type = value.getType();
  auto tensor = dyn_cast<mlir::RankedTensorType>(type);
  auto elementBytes = bytesOfElement(tensor ? tensor.getElementType() : type);
  if (!elementBytes)
    return errorAt(value) << "expected ranked tensors and scalars of numbers, "
                             "but got "
                          << type;
  ValueShape shape;
  if (tensor && !tensor.hasStaticShape())
    return errorAt(value) << "expected a static shape, but got " << type
                          << (value.getDefiningOp()
                                  ? ": give it sizes that are constants"
                                  : ", which is not supported yet");
  if (tensor)
    shape.sizes = tensor.getShape();
  for (int64_t size : shape.sizes)
    shape.elements = saturatingProduct(shape.elements, size);
  shape.bytes = saturatingProduct(shape.elements, *elementBytes);
  if (shape.bytes > largestBytes)
    return errorAt(value) << "expected at most 2^50 bytes in a tensor, but got "
                          << type;
  return shape;
}

FailureOr<int64_t> ckpt::bytesOutside(mlir::func::FuncOp function) {
  mlir::Block &body = function.getBody().front();
  SmallVector<Value> outside(body.getArguments());
  llvm::append_range(outside, body.getTerminator()->getOperands());
  int64_t bytes = 0;
  for (Value value : outside) {
    FailureOr<ValueShape> shape = shapeOfValue(value);
    if (failed(shape))
      return failure();
    bytes = saturatingSum(bytes, shape->bytes);
  }
  return bytes;
}
