//===- ContractionBody.h - Bodies that multiply and add ---------*- C++ -*-===//

#ifndef CKPT_LIB_CONVERSION_CONTRACTIONBODY_H
#define CKPT_LIB_CONVERSION_CONTRACTIONBODY_H

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

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_CONTRACTIONBODY_H
