//===- ReturnedParts.cpp - Values that fill results in parts --------------===//

#include "ckpt/Analysis/ReturnedParts.h"
#include "ckpt/Analysis/StepOps.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace ckpt;

/// The value that \p op shows in another shape, if it does nothing else.
static Value reshapedBy(Operation *op) {
  auto view = dyn_cast_or_null<RematOpInterface>(op);
  if (!view || view.getRematKind() != plan::OpKind::View)
    return Value();
  SmallVector<RematRead> reads;
  view.getReads(reads);
  bool isReshape =
      reads.size() == 1 && reads.front().access == plan::Access::Reshape;
  return isReshape ? reads.front().value : Value();
}

Value ckpt::lookThroughReshapes(Value value) {
  value = lookThroughLayers(value);
  while (Value source = reshapedBy(value.getDefiningOp()))
    value = lookThroughLayers(source);
  return value;
}

/// The value under the reshapes of \p value, if each value on the way has one
/// use; else null.
static Value readOnce(Value value) {
  while (value.hasOneUse()) {
    if (auto layer = value.getDefiningOp<LayerOp>()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      value = layer.getBody().front().getTerminator()->getOperand(number);
    } else if (Value source = reshapedBy(value.getDefiningOp())) {
      value = source;
    } else {
      return value;
    }
  }
  return Value();
}

/// Whether the operands of \p concat lie one after another in its result.
static bool isContiguous(mlir::tensor::ConcatOp concat) {
  auto type = cast<mlir::RankedTensorType>(concat.getType());
  auto isStatic = [](Type type) {
    return cast<mlir::ShapedType>(type).hasStaticShape();
  };
  return isStatic(type) &&
         llvm::all_of(concat.getInputs().getTypes(), isStatic) &&
         llvm::all_of(type.getShape().take_front(concat.getDim()),
                      [](int64_t extent) { return extent == 1; });
}

static int64_t bytesOf(Value value) {
  FailureOr<ValueShape> shape = shapeOfValue(value);
  return succeeded(shape) ? shape->bytes : 0;
}

/// Whether no op of the program makes the contents of \p value.
static bool isUndefined(Value value) {
  return lookThroughViews(value).getDefiningOp<mlir::tensor::EmptyOp>();
}

/// Appends the parts of \p value, whose buffer begins at \p begin of that of
/// result \p result. False if one would begin at a place that no value may.
static bool appendParts(Value value, unsigned result, int64_t begin,
                        SmallVectorImpl<ReturnedPart> &parts) {
  Value source = readOnce(value);
  auto concat = source ? source.getDefiningOp<mlir::tensor::ConcatOp>()
                       : mlir::tensor::ConcatOp();
  if (concat && isContiguous(concat)) {
    size_t first = parts.size();
    int64_t place = begin;
    bool isWhole = llvm::all_of(concat.getInputs(), [&](Value input) {
      if (isUndefined(input) || !appendParts(input, result, place, parts))
        return false;
      place += bytesOf(input);
      return true;
    });
    if (isWhole)
      return true;
    parts.truncate(first);
  }
  if (begin % partAlignment != 0)
    return false;
  parts.push_back({lookThroughReshapes(value), result, begin});
  return true;
}

SmallVector<ReturnedPart> ckpt::returnedParts(Block &block) {
  SmallVector<ReturnedPart> parts;
  for (OpOperand &operand : block.getTerminator()->getOpOperands())
    appendParts(operand.get(), operand.getOperandNumber(), /*begin=*/0, parts);
  return parts;
}
