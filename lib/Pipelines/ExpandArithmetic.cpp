//===- ExpandArithmetic.cpp - The same bits on every target ---------------===//

#include "ExpandArithmetic.h"
#include "ckpt/Conversion/Passes.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace {
/// Upstream's pass of that name also folds: it takes log(exp(z)) for z and
/// (a + b) - b for a, so that numbers would depend on fusion.
struct ComplexToStandard : PassWrapper<ComplexToStandard, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ComplexToStandard)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateComplexToStandardConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, math::MathDialect>();
    target.addLegalOp<complex::CreateOp, complex::ImOp, complex::ReOp>();
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns), config)))
      signalPassFailure();
  }
};

/// Upstream may leave out a rounding to a narrow type before the value is
/// widened again: then numbers would depend on fusion. It expands no cast that
/// names its rounding, not even the one to the nearest number, which is meant
/// without a name.
struct KeepRoundings : PassWrapper<KeepRoundings, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepRoundings)

  void runOnOperation() override {
    getOperation()->walk([](arith::ArithFastMathInterface op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        op->removeAttr(op.getFastMathAttrName());
    });
    getOperation()->walk([](arith::TruncFOp cast) {
      if (cast.getRoundingmode() == arith::RoundingMode::to_nearest_even)
        cast.removeRoundingmodeAttr();
    });
  }
};
} // namespace

void ckpt::expandArithmetic(OpPassManager &manager, Machine machine) {
  manager.addPass(std::make_unique<ComplexToStandard>());
  arith::ArithEmulateUnsupportedFloatsOptions narrowArith;
  narrowArith.sourceTypeStrs = {"bf16",       "f16",       "f8E5M2",
                                "f8E4M3",     "f8E4M3FN",  "f8E3M4",
                                "f8E5M2FNUZ", "f8E4M3FNUZ"};
  narrowArith.targetTypeStr = "f32";
  math::MathExtendToSupportedTypesOptions narrowMath;
  narrowMath.extraTypeStrs = {"f64"};
  narrowMath.targetTypeStr = "f32";
  manager.addPass(createExpandComposites());
  manager.addPass(math::createMathExtendToSupportedTypes(narrowMath));
  manager.addPass(arith::createArithEmulateUnsupportedFloats(narrowArith));
  manager.addPass(std::make_unique<KeepRoundings>());
  manager.addPass(createSaturateCasts());
  manager.addPass(createExpandMath());
  manager.addPass(createExpandExtrema());
  manager.addPass(createExpandCasts());
  if (machine == Machine::Gpu)
    manager.addPass(createDeviceBfloats());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  manager.addPass(arith::createArithExpandOpsPass(expand));
}
