//===- EmptyConstants.cpp - Constants without elements --------------------===//
//
// Upstream, asked whether a division may run at any time, reads the first
// element of its divisor: a constant without elements has none.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace ckpt;

void ckpt::emptyConstants(mlir::func::FuncOp step) {
  SmallVector<mlir::arith::ConstantOp> constants;
  step.walk([&](mlir::arith::ConstantOp constant) {
    auto type = dyn_cast<mlir::RankedTensorType>(constant.getType());
    if (type && type.hasStaticShape() && type.getNumElements() == 0)
      constants.push_back(constant);
  });
  mlir::IRRewriter rewriter(step.getContext());
  for (mlir::arith::ConstantOp constant : constants) {
    auto type = cast<mlir::RankedTensorType>(constant.getType());
    rewriter.setInsertionPoint(constant);
    rewriter.replaceOpWithNewOp<mlir::tensor::EmptyOp>(
        constant, type.getShape(), type.getElementType());
  }
}
