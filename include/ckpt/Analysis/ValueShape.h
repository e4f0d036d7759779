//===- ValueShape.h - How much memory a value takes -------------*- C++ -*-===//
//
// The size of a value in bytes, from its type alone. The import counts arenas
// by it, the lowering and the proofs of slots check them by it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_VALUESHAPE_H
#define CKPT_ANALYSIS_VALUESHAPE_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// A tensor of static shape in row-major order without gaps, or a scalar.
struct ValueShape {
  /// Empty for a scalar.
  ArrayRef<int64_t> sizes;
  int64_t elements = 1;
  /// An element takes a power of two of bytes: 1 for `i1`, 8 for `index`.
  int64_t bytes = 0;
};

/// Reports at the maker of \p value a type that cannot be planned.
FailureOr<ValueShape> shapeOfValue(Value value);

/// Bytes of all arguments and results of \p function.
FailureOr<int64_t> bytesOutside(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_ANALYSIS_VALUESHAPE_H
