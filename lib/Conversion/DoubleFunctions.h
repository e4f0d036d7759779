//===- DoubleFunctions.h - Functions in f64 as arithmetic -------*- C++ -*-===//

#ifndef CKPT_LIB_CONVERSION_DOUBLEFUNCTIONS_H
#define CKPT_LIB_CONVERSION_DOUBLEFUNCTIONS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace ckpt {

/// Adds patterns for cos, erf, exp, exp2, expm1, log, log10, log1p, log2, sin,
/// tanh and powf in f64, and in f32 for those without a polynomial upstream:
/// computed in f64 and rounded.
void populateDoubleFunctionPatterns(mlir::RewritePatternSet &patterns);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_DOUBLEFUNCTIONS_H
