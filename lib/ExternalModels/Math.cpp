//===- Math.cpp - Elementwise functions -----------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "Elementwise.h"
#include "ckpt/ExternalModels/ExternalModels.h"

using namespace ckpt;

void ckpt::registerMathExternalModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mlir::math::MathDialect *) {
    attachElementwiseModels<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
        >(context);
  });
}
