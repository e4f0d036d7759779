//===- ExactQuotients.h - Quotients by powers of two ------------*- C++ -*-===//
//
// `--ckpt-expand-math` adds these patterns to those of functions.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_MATH_EXACTQUOTIENTS_H
#define CKPT_LIB_CONVERSION_MATH_EXACTQUOTIENTS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace ckpt {

/// Adds patterns that make a quotient a product where that has the same bits
/// and LLVM would not see it: the divisor is chosen of two powers of two.
void populateExactQuotientPatterns(mlir::RewritePatternSet &patterns);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_MATH_EXACTQUOTIENTS_H
