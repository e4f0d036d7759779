//===- ContiguousSlice.cpp - Slices that are one stretch ------------------===//

#include "ckpt/ExternalModels/ContiguousSlice.h"
#include "llvm/ADT/STLExtras.h"

std::optional<int64_t>
ckpt::contiguousBegin(mlir::tensor::ExtractSliceOp slice) {
  auto isStatic = [](llvm::ArrayRef<int64_t> numbers) {
    return mlir::ShapedType::isStaticShape(numbers);
  };
  mlir::RankedTensorType source = slice.getSourceType();
  llvm::ArrayRef<int64_t> offsets = slice.getStaticOffsets();
  llvm::ArrayRef<int64_t> sizes = slice.getStaticSizes();
  bool isKnown = source.hasStaticShape() && isStatic(offsets) &&
                 isStatic(sizes) &&
                 llvm::all_of(slice.getStaticStrides(),
                              [](int64_t stride) { return stride == 1; });
  if (!isKnown)
    return std::nullopt;
  int64_t begin = 0;
  // Below one row, a slice is no stretch unless it takes whole rows.
  bool isOneRow = true;
  for (auto [offset, size, extent] :
       llvm::zip_equal(offsets, sizes, source.getShape())) {
    if (!isOneRow && size != extent)
      return std::nullopt;
    isOneRow &= size == 1;
    begin = begin * extent + offset;
  }
  return begin;
}
