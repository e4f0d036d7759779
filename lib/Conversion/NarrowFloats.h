//===- NarrowFloats.h - 8-bit floats as integers ----------------*- C++ -*-===//

#ifndef CKPT_LIB_CONVERSION_NARROWFLOATS_H
#define CKPT_LIB_CONVERSION_NARROWFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace ckpt {

/// Conversions from and to f8E4M3FN and f8E5M2 become integer arithmetic, for
/// scalars and vectors.
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_NARROWFLOATS_H
