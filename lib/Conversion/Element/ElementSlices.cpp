//===- ElementSlices.cpp - Elements of slices and joined tensors ----------===//
//
// Which element of which operand is read where tensors are cut, padded, put
// into one another or joined; nothing is copied.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Element/ElementEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace ckpt;
using namespace mlir;

/// Whether \p value has no elements. An index cannot be kept inside of it, so
/// that reading it would leave its memory.
static bool isEmpty(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements() == 0;
}

/// Offsets are kept so that the slice stays inside: at most \p limit.
LinearIndex ElementEmitter::offsetOf(OpFoldResult offset, int64_t limit) {
  if (std::optional<int64_t> constant = getConstantIntValue(offset))
    return *constant;
  return clampedIndex(emitScalar(cast<Value>(offset)), limit + 1);
}

Value ElementEmitter::emitExtractSlice(tensor::ExtractSliceOp op,
                                       ArrayRef<LinearIndex> at) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<LinearIndex> source;
  size_t next = 0;
  for (auto [dim, extent] : llvm::enumerate(shapeOf(op.getSource()))) {
    int64_t stride = op.getStaticStrides()[dim];
    int64_t size = op.getStaticSizes()[dim];
    LinearIndex offset =
        offsetOf(op.getMixedOffsets()[dim], extent - (size - 1) * stride - 1);
    source.push_back(dropped.test(dim) ? offset : offset + at[next++] * stride);
  }
  return emit(op.getSource(), source);
}

Value ElementEmitter::emitEither(Value condition, Value ifTrue,
                                 ArrayRef<LinearIndex> trueAt, Value ifFalse,
                                 ArrayRef<LinearIndex> falseAt) {
  Type type = getElementTypeOrSelf(ifTrue.getType());
  if (index.getLanes() > 1)
    type = VectorType::get(index.getLanes(), type);
  auto choice =
      scf::IfOp::create(builder, type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto emitBranch = [&](Block *block, Value tensor, ArrayRef<LinearIndex> at) {
    builder.setInsertionPointToStart(block);
    ElementEmitter inside = nested(index.getLanes());
    Value element = inside.emit(tensor, at);
    if (element)
      scf::YieldOp::create(builder, inside.broadcast(element));
    return element != nullptr;
  };
  return emitBranch(choice.thenBlock(), ifTrue, trueAt) &&
                 emitBranch(choice.elseBlock(), ifFalse, falseAt)
             ? choice.getResult(0)
             : Value();
}

Value ElementEmitter::emitInsertSlice(tensor::InsertSliceOp op,
                                      ArrayRef<LinearIndex> at) {
  if (isEmpty(op.getSource()))
    return emit(op.getDest(), at);
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<LinearIndex> source;
  Value inside;
  for (auto [dim, extent] : llvm::enumerate(shapeOf(op.getDest()))) {
    int64_t stride = op.getStaticStrides()[dim];
    int64_t size = op.getStaticSizes()[dim];
    int64_t span = (size - 1) * stride + 1;
    OpFoldResult start = op.getMixedOffsets()[dim];
    LinearIndex offset = offsetOf(start, extent - span);
    // A slice that is not wholly inside is not written.
    if (auto value = dyn_cast<Value>(start))
      inside = both(inside, arith::CmpIOp::create(
                                builder, arith::CmpIPredicate::eq,
                                index.materialize(offset), emitScalar(value)));
    ClampedIndex clamped = index.confine(at[dim] - offset, {0, span});
    inside = both(inside, clamped.inside);
    inside = both(inside, index.isMultiple(clamped.index, stride));
    if (!dropped.test(dim))
      source.push_back(divideIndex(clamped.index, stride, index).first);
  }
  // Most elements lie between those that are inserted: what those take is not
  // computed for nothing.
  bool hasGaps = llvm::any_of(op.getStaticStrides(),
                              [](int64_t stride) { return stride > 1; });
  if (hasGaps && inside && !isa<VectorType>(inside.getType()) &&
      !memory.contains(op.getSource()))
    return emitEither(inside, op.getSource(), source, op.getDest(), at);
  Value inserted = emit(op.getSource(), source);
  if (!inserted || !inside)
    return inserted;
  Value rest = emit(op.getDest(), at);
  return rest ? select(inside, inserted, rest) : Value();
}

Value ElementEmitter::emitPad(tensor::PadOp op, ArrayRef<LinearIndex> at) {
  if (isEmpty(op.getSource()))
    return emitPadding(op, at);
  ArrayRef<int64_t> shape = shapeOf(op.getSource());
  SmallVector<LinearIndex> source;
  Value inside;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    ClampedIndex clamped =
        index.confine(at[dim] - op.getStaticLow()[dim], {0, extent});
    source.push_back(clamped.index);
    inside = both(inside, clamped.inside);
  }
  if (!inside)
    return emit(op.getSource(), source);
  Value padding = emitPadding(op, at);
  if (!padding)
    return Value();
  if (Value flat = memory.lookup(op.getSource()))
    if (Value element =
            loadMasked(flat, linearize(source, shape), inside, padding))
      return element;
  Value element = emit(op.getSource(), source);
  return element ? select(inside, element, padding) : Value();
}

Value ElementEmitter::emitPadding(tensor::PadOp op, ArrayRef<LinearIndex> at) {
  IRMapping mapping;
  Block &body = op.getRegion().front();
  for (auto [argument, at] : llvm::zip_equal(body.getArguments(), at))
    if (!argument.use_empty())
      mapping.map(argument, index.materialize(at));
  SmallVector<Value> padding = emitBlock(body, mapping, at);
  return padding.empty() ? Value() : padding.front();
}

Value ElementEmitter::emitConcat(tensor::ConcatOp op,
                                 ArrayRef<LinearIndex> at) {
  uint64_t dim = op.getDim();
  int64_t begin = 0;
  Value result;
  for (Value input : op.getInputs()) {
    if (isEmpty(input))
      continue;
    int64_t extent = shapeOf(input)[dim];
    SmallVector<LinearIndex> source(at);
    ClampedIndex clamped = index.confine(at[dim] - begin, {0, extent});
    source[dim] = clamped.index;
    Value element = emit(input, source);
    if (!element)
      return Value();
    result = result ? select(clamped.inside, element, result) : element;
    begin += extent;
  }
  return result;
}
