//===- ContractionBody.h - Bodies that multiply and add ---------*- C++ -*-===//
//
// Both targets recognise a contraction by its body, to emit it in tiles. The
// length of its sums decides their order, on both targets alike.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_CONTRACTIONBODY_H
#define CKPT_LIB_CONVERSION_KERNEL_CONTRACTIONBODY_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace ckpt {

/// An op whose body is out + left * right in floating point, with operands
/// widened first where they are narrower.
struct ContractionBody {
  mlir::OpOperand *left;
  mlir::OpOperand *right;
  /// Type of the running sum: f64 for f64, else f32, also for narrow results.
  mlir::FloatType sumType;
};

std::optional<ContractionBody> matchContraction(mlir::linalg::LinalgOp op);

/// Steps of a chunk of a long sum.
inline constexpr int64_t chunkSteps = 256;

/// Whether the sums of the contraction \p op are chunks of `chunkSteps` steps
/// in the order of its reduced loops, each a chain from zero, added to the init
/// in order. It is so where few results are sums of many products, as in the
/// gradient of a small filter: one chain per result would leave a GPU idle.
bool hasLongSums(mlir::linalg::LinalgOp op);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_CONTRACTIONBODY_H
