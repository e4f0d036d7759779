//===- DoublePatterns.h - Functions to arithmetic in f64 --------*- C++ -*-===//
//
// `--ckpt-expand-math` adds these patterns to upstream's polynomials in f32.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_MATH_DOUBLEPATTERNS_H
#define CKPT_LIB_CONVERSION_MATH_DOUBLEPATTERNS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace ckpt {

/// Adds patterns for all functions in f64, and for functions in f32 without a
/// polynomial upstream that is right to a few units: computed in f64 and
/// rounded.
void populateDoubleFunctionPatterns(mlir::RewritePatternSet &patterns);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_MATH_DOUBLEPATTERNS_H
