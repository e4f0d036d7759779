//===- KernelFunction.cpp - Tensor code between buffers -------------------===//

#include "ckpt/ExternalModels/KernelFunction.h"
#include "ckpt/Support/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace ckpt;
using namespace mlir;

RankedTensorType ckpt::tensorOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor;
  return RankedTensorType::get({}, type);
}

MemRefType ckpt::memoryType(Type type) {
  RankedTensorType tensor = tensorOf(type);
  Type element = storedElement(tensor.getElementType());
  // Bare pointers of upstream refuse strides of 0, as 4 x 0 elements have by
  // default. Without elements, any strides do.
  MemRefLayoutAttrInterface layout;
  if (tensor.getNumElements() == 0)
    layout = StridedLayoutAttr::get(type.getContext(), 0,
                                    SmallVector<int64_t>(tensor.getRank(), 1));
  return MemRefType::get(tensor.getShape(), element, layout);
}

Value ckpt::loadInput(OpBuilder &builder, Location loc, Type type,
                      Value buffer) {
  RankedTensorType tensor = tensorOf(type);
  auto stored =
      tensor.clone(cast<MemRefType>(buffer.getType()).getElementType());
  Value value = bufferization::ToTensorOp::create(builder, loc, stored, buffer,
                                                  /*restrict=*/true);
  if (stored != tensor)
    value = arith::TruncIOp::create(builder, loc, tensor, value);
  if (tensor != type)
    value = tensor::ExtractOp::create(builder, loc, value, ValueRange());
  return value;
}

void ckpt::storeOutput(OpBuilder &builder, Location loc, Value value,
                       Value buffer) {
  RankedTensorType type = tensorOf(value.getType());
  if (type != value.getType())
    value = tensor::FromElementsOp::create(builder, loc, type, value);
  auto stored = type.clone(cast<MemRefType>(buffer.getType()).getElementType());
  if (stored != type && type.getElementType().isInteger(1))
    value = arith::ExtUIOp::create(builder, loc, stored, value);
  else if (stored != type)
    value = arith::ExtSIOp::create(builder, loc, stored, value);
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, /*result=*/Type(), value, buffer, /*restrict=*/true,
      /*writable=*/true);
}
