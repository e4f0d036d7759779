//===- ExpandMath.cpp - Functions such as exp as arithmetic ---------------===//
//
// The pass `--ckpt-expand-math`, which the pipelines of both targets run on the
// code of kernels: upstream's polynomials in f32, ours in f64
// (DoublePatterns.h).
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoublePatterns.h"
#include "Conversion/Math/ExactQuotients.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSet.h"

namespace ckpt {
#define GEN_PASS_DEF_EXPANDMATH
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

/// Functions whose polynomial upstream is right in f32 to a few units.
static bool hasPolynomial(StringRef name) {
  static const llvm::StringSet<> names = {
      math::ErfOp::getOperationName(),   math::ExpOp::getOperationName(),
      math::ExpM1Op::getOperationName(), math::LogOp::getOperationName(),
      math::Log1pOp::getOperationName(), math::Log2Op::getOperationName(),
      math::TanhOp::getOperationName()};
  return names.contains(name);
}

namespace {
struct ExpandMath : public ckpt::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    // No libm function and no polynomial: 1 / sqrt(x).
    math::populateExpansionPatterns(patterns, {"rsqrt"});
    populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
    ckpt::populateDoubleFunctionPatterns(patterns);
    ckpt::populateExactQuotientPatterns(patterns);
    if (failed(ckpt::rewriteExactly(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
