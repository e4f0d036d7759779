//===- ExpandMath.cpp - Functions such as exp as arithmetic ---------------===//

#include "DoubleFunctions.h"
#include "NarrowFloats.h"
#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace ckpt {
#define GEN_PASS_DEF_EXPANDMATH
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

namespace {
struct ExpandMath : public ckpt::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    // No libm function and no polynomial: 1 / sqrt(x).
    math::populateExpansionPatterns(patterns, {"rsqrt"});
    populateMathPolynomialApproximationPatterns(patterns);
    ckpt::populateDoubleFunctionPatterns(patterns);
    ckpt::populateNarrowFloatPatterns(patterns);
    GreedyRewriteConfig config;
    // Neither reorders floating-point arithmetic, but only these are wanted.
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
