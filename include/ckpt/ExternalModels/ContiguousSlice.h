//===- ContiguousSlice.h - Slices that are one stretch ----------*- C++ -*-===//

#ifndef CKPT_EXTERNALMODELS_CONTIGUOUSSLICE_H
#define CKPT_EXTERNALMODELS_CONTIGUOUSSLICE_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ckpt {

/// First element of \p slice in its source, if the slice is one stretch of that
/// at a place known now: a layer's weight in a stack of weights.
std::optional<int64_t> contiguousBegin(mlir::tensor::ExtractSliceOp slice);

} // namespace ckpt

#endif // CKPT_EXTERNALMODELS_CONTIGUOUSSLICE_H
