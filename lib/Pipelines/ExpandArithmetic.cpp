//===- ExpandArithmetic.cpp - The same bits on every target ---------------===//

#include "ExpandArithmetic.h"
#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

void ckpt::expandArithmetic(OpPassManager &manager) {
  arith::ArithEmulateUnsupportedFloatsOptions narrowArith;
  narrowArith.sourceTypeStrs = {"bf16", "f16"};
  narrowArith.targetTypeStr = "f32";
  math::MathExtendToSupportedTypesOptions narrowMath;
  narrowMath.extraTypeStrs = {"f64"};
  narrowMath.targetTypeStr = "f32";
  manager.addPass(math::createMathExtendToSupportedTypes(narrowMath));
  manager.addPass(arith::createArithEmulateUnsupportedFloats(narrowArith));
  manager.addPass(createExpandMath());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  manager.addPass(arith::createArithExpandOpsPass(expand));
}
