//===- SplitResults.cpp - Elementwise ops with several results ------------===//

#include "Conversion/Kernel/SplitResults.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;
using namespace mlir;

/// \p type with integers of \p width bits.
static Type withWidth(Type type, unsigned width) {
  Type element = IntegerType::get(type.getContext(), width);
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(element)) : element;
}

/// The lower and the higher half of a product, of twice the width.
template <typename Extend>
static SmallVector<Value> splitProduct(ImplicitLocOpBuilder &builder,
                                       Value left, Value right) {
  Type type = left.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Type wide = withWidth(type, 2 * width);
  Value product =
      arith::MulIOp::create(builder, Extend::create(builder, wide, left),
                            Extend::create(builder, wide, right));
  TypedAttr shift = builder.getIntegerAttr(getElementTypeOrSelf(wide), width);
  if (auto shaped = dyn_cast<ShapedType>(wide))
    shift = DenseElementsAttr::get(shaped, Attribute(shift));
  Value high = arith::ShRUIOp::create(
      builder, product, arith::ConstantOp::create(builder, shift));
  return {arith::TruncIOp::create(builder, type, product),
          arith::TruncIOp::create(builder, type, high)};
}

static SmallVector<Value> split(Operation *op) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op)
      .Case([&](math::SincosOp op) -> SmallVector<Value> {
        return {math::SinOp::create(builder, op.getOperand()),
                math::CosOp::create(builder, op.getOperand())};
      })
      .Case([&](arith::AddUIExtendedOp op) -> SmallVector<Value> {
        Value sum = arith::AddIOp::create(builder, op.getLhs(), op.getRhs());
        Value overflow = arith::CmpIOp::create(
            builder, arith::CmpIPredicate::ult, sum, op.getLhs());
        return {sum, overflow};
      })
      .Case([&](arith::MulSIExtendedOp op) {
        return splitProduct<arith::ExtSIOp>(builder, op.getLhs(), op.getRhs());
      })
      .Case([&](arith::MulUIExtendedOp op) {
        return splitProduct<arith::ExtUIOp>(builder, op.getLhs(), op.getRhs());
      })
      .Default([](Operation *) { return SmallVector<Value>(); });
}

void ckpt::splitResults(func::FuncOp function) {
  function.walk([](Operation *op) {
    SmallVector<Value> results = split(op);
    if (results.empty())
      return;
    op->replaceAllUsesWith(results);
    op->erase();
  });
}
