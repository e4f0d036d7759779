//===- EmptyConstants.cpp - Constants without elements, or without values -===//
//
// Upstream, asked whether a division may run at any time, reads the first
// element of its divisor: a constant without elements has none. A poison may
// be any value. LLVM takes another one in each kernel, so that a choice here
// keeps results the same at all budgets.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace ckpt;

static bool hasNoElements(mlir::arith::ConstantOp constant) {
  auto type = dyn_cast<mlir::RankedTensorType>(constant.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

/// The number 0, or a tensor of zeros; null where \p type has neither.
static Value zeroOf(OpBuilder &builder, mlir::Location loc, Type type) {
  if (auto zero = builder.getZeroAttr(type))
    return mlir::arith::ConstantOp::create(builder, loc, zero);
  auto pair = dyn_cast<mlir::ComplexType>(getElementTypeOrSelf(type));
  if (!pair)
    return Value();
  auto zero = builder.getZeroAttr(pair.getElementType());
  auto zeros = builder.getArrayAttr({zero, zero});
  auto tensor = dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor)
    return mlir::complex::ConstantOp::create(builder, loc, pair, zeros);
  if (!tensor.hasStaticShape())
    return Value();
  llvm::APFloat part = cast<mlir::FloatAttr>(zero).getValue();
  return mlir::arith::ConstantOp::create(
      builder, loc,
      mlir::DenseElementsAttr::get(tensor,
                                   std::complex<llvm::APFloat>(part, part)));
}

/// What \p op becomes, or null.
static Value withValues(OpBuilder &builder, Operation *op) {
  if (auto poison = dyn_cast<mlir::ub::PoisonOp>(op))
    return zeroOf(builder, op->getLoc(), poison.getType());
  auto constant = dyn_cast<mlir::arith::ConstantOp>(op);
  if (!constant || !hasNoElements(constant))
    return Value();
  auto type = cast<mlir::RankedTensorType>(constant.getType());
  return mlir::tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                       type.getElementType());
}

void ckpt::emptyConstants(mlir::func::FuncOp step) {
  SmallVector<Operation *> ops;
  step.walk([&](Operation *op) {
    if (isa<mlir::arith::ConstantOp, mlir::ub::PoisonOp>(op))
      ops.push_back(op);
  });
  mlir::IRRewriter rewriter(step.getContext());
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (Value value = withValues(rewriter, op))
      rewriter.replaceOp(op, value);
  }
}
