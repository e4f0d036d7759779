//===- ReturnedParts.h - Values that fill results in parts ------*- C++ -*-===//
//
// A returned `tensor.concat` along its first dimension lays values one after
// another. Each is written straight into its part of the caller's buffer, so no
// kernel makes the concatenation. Planner, rewrite, verification and lowering
// all ask here for the parts of a function's results.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_RETURNEDPARTS_H
#define CKPT_ANALYSIS_RETURNEDPARTS_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/Block.h"

namespace ckpt {

/// Places inside a caller's buffer begin at a multiple of this: code for GPUs
/// moves that many bytes at a time.
inline constexpr int64_t partAlignment = 16;

/// A stretch of the buffer of a function's result.
struct ReturnedPart {
  /// Fills it with its elements in their order, perhaps in another shape.
  Value value;
  /// The number of the function's result.
  unsigned result = 0;
  /// First byte of the stretch in the buffer.
  int64_t beginBytes = 0;
};

/// The value whose elements \p value shows in the same order, through reshapes
/// and layers.
Value lookThroughReshapes(Value value);

/// The parts of the values that \p block returns, in the order of results and
/// places. A result is one part, unless it is a concatenation without other
/// readers whose parts are contiguous and begin at multiples of
/// `partAlignment`.
SmallVector<ReturnedPart> returnedParts(Block &block);

} // namespace ckpt

#endif // CKPT_ANALYSIS_RETURNEDPARTS_H
