//===- RewriteConstants.cpp - Constants that later passes do not take -----===//
//
// Upstream, asked whether a division may run at any time, reads the first
// element of its divisor: a constant without elements has none. A poison may
// be any value. LLVM takes another one in each kernel, so that a choice here
// keeps results the same at all budgets. LLVM's dialect has no tables of
// complex numbers: their parts are two tables.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace ckpt;

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

/// The elements of \p table, made of a table of their real parts and one of
/// their imaginary parts.
static Value madeOfParts(OpBuilder &builder, mlir::Location loc,
                         mlir::DenseElementsAttr table) {
  auto type = cast<mlir::RankedTensorType>(table.getType());
  auto pair = cast<mlir::ComplexType>(type.getElementType());
  SmallVector<llvm::APFloat> parts[2];
  for (const std::complex<llvm::APFloat> &value :
       table.getValues<std::complex<llvm::APFloat>>()) {
    parts[0].push_back(value.real());
    parts[1].push_back(value.imag());
  }
  SmallVector<Value> tables;
  for (ArrayRef<llvm::APFloat> part : parts)
    tables.push_back(mlir::arith::ConstantOp::create(
        builder, loc,
        mlir::DenseElementsAttr::get(type.clone(pair.getElementType()), part)));
  Value init =
      mlir::tensor::EmptyOp::create(builder, loc, type.getShape(), pair);
  SmallVector<mlir::AffineMap> maps(
      3, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<mlir::utils::IteratorType> loops(
      type.getRank(), mlir::utils::IteratorType::parallel);
  return mlir::linalg::GenericOp::create(
             builder, loc, type, tables, init, maps, loops,
             [&](OpBuilder &body, mlir::Location at, mlir::ValueRange values) {
               Value number = mlir::complex::CreateOp::create(
                   body, at, pair, values[0], values[1]);
               mlir::linalg::YieldOp::create(body, at, number);
             })
      .getResult(0);
}

/// What \p constant becomes, or null.
static Value rewritten(OpBuilder &builder, mlir::arith::ConstantOp constant) {
  auto type = dyn_cast<mlir::RankedTensorType>(constant.getType());
  if (!type || !type.hasStaticShape())
    return Value();
  if (type.getNumElements() == 0)
    return mlir::tensor::EmptyOp::create(
        builder, constant.getLoc(), type.getShape(), type.getElementType());
  auto table = dyn_cast<mlir::DenseElementsAttr>(constant.getValue());
  auto pair = dyn_cast<mlir::ComplexType>(type.getElementType());
  return table && pair && isa<mlir::FloatType>(pair.getElementType()) &&
                 !table.isSplat()
             ? madeOfParts(builder, constant.getLoc(), table)
             : Value();
}

void ckpt::rewriteConstants(mlir::func::FuncOp step) {
  SmallVector<Operation *> ops;
  step.walk([&](Operation *op) {
    if (isa<mlir::arith::ConstantOp, mlir::ub::PoisonOp>(op))
      ops.push_back(op);
  });
  mlir::IRRewriter rewriter(step.getContext());
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    auto constant = dyn_cast<mlir::arith::ConstantOp>(op);
    Value value =
        constant ? rewritten(rewriter, constant)
                 : zeroOf(rewriter, op->getLoc(), op->getResult(0).getType());
    if (value)
      rewriter.replaceOp(op, value);
  }
}
