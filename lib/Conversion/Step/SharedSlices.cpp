//===- SharedSlices.cpp - Kernels that differ in a slice's place ----------===//

#include "Conversion/Step/SharedSlices.h"
#include "ckpt/Analysis/ValueShape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace ckpt;
using namespace mlir;

/// Lowering relies on buffers of several elements that begin at multiples of
/// this.
static constexpr int64_t alignmentBytes = 16;

/// The elements before \p offsets in a tensor of \p shape.
static int64_t flatten(ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [offset, extent] : llvm::zip_equal(offsets, shape))
    flat = flat * extent + offset;
  return flat;
}

SliceStart ckpt::sliceStart(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || !type.hasStaticShape() || argument.use_empty())
    return {};
  SliceStart start;
  bool isElement = true;
  for (Operation *user : argument.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slice->getBlock() != argument.getOwner() ||
        !ShapedType::isStaticShape(slice.getStaticOffsets()))
      return {};
    isElement &= slice.getType().getNumElements() == 1;
    ArrayRef<int64_t> offsets = slice.getStaticOffsets();
    if (start.offsets.empty())
      start.offsets.assign(offsets.begin(), offsets.end());
    for (auto [least, offset] : llvm::zip_equal(start.offsets, offsets))
      least = std::min(least, offset);
  }
  FailureOr<ValueShape> shape = shapeOfValue(argument);
  if (failed(shape) || shape->elements == 0)
    return {};
  int64_t elementBytes = shape->bytes / shape->elements;
  start.bytes = flatten(start.offsets, type.getShape()) * elementBytes;
  if (start.bytes == 0 ||
      start.bytes % (isElement ? elementBytes : alignmentBytes) != 0)
    return {};
  return start;
}

void ckpt::moveSlice(Operation *op, const SliceStart &start) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  SmallVector<int64_t> offsets(slice.getStaticOffsets());
  for (auto [offset, begin] : llvm::zip_equal(offsets, start.offsets))
    offset -= begin;
  slice.setStaticOffsets(offsets);
}
