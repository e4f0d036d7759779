//===- SplitResults.cpp - Elementwise ops with several results ------------===//

#include "Conversion/Kernel/SplitResults.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
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

/// The higher 64 bits of the product of two numbers of 64 bits without a sign,
/// by products of their halves.
static Value higherHalf(ImplicitLocOpBuilder &builder, Value a, Value b) {
  Value bits =
      createScalarOrSplatConstant(builder, builder.getLoc(), a.getType(), 32);
  Value mask = createScalarOrSplatConstant(builder, builder.getLoc(),
                                           a.getType(), 0xffffffff);
  auto low = [&](Value x) {
    return arith::AndIOp::create(builder, x, mask).getResult();
  };
  auto high = [&](Value x) {
    return arith::ShRUIOp::create(builder, x, bits).getResult();
  };
  auto add = [&](Value x, Value y) {
    return arith::AddIOp::create(builder, x, y).getResult();
  };
  auto multiply = [&](Value x, Value y) {
    return arith::MulIOp::create(builder, x, y).getResult();
  };
  Value crossed = multiply(low(a), high(b)), other = multiply(high(a), low(b));
  Value carried = high(multiply(low(a), low(b)));
  carried = high(add(add(carried, low(crossed)), low(other)));
  return add(add(multiply(high(a), high(b)), high(crossed)),
             add(high(other), carried));
}

/// The lower and the higher half of a product, of twice the width. No integer
/// is wider than 64 bits.
template <typename Extend>
static SmallVector<Value> splitProduct(ImplicitLocOpBuilder &builder,
                                       Value left, Value right) {
  Type type = left.getType(), element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Type wide = withWidth(type, width <= 32 ? 2 * width : 64);
  auto convert = [&](Type to, Value value) -> Value {
    if (value.getType() == to)
      return value;
    if (element.isIndex())
      return arith::IndexCastOp::create(builder, to, value);
    if (to == type)
      return arith::TruncIOp::create(builder, type, value);
    return Extend::create(builder, wide, value);
  };
  Value a = convert(wide, left), b = convert(wide, right);
  Value product = arith::MulIOp::create(builder, a, b);
  auto shift = [&](Value value, bool toTheLeft, unsigned count) -> Value {
    Value bits =
        createScalarOrSplatConstant(builder, builder.getLoc(), wide, count);
    if (toTheLeft)
      return arith::ShLIOp::create(builder, value, bits);
    return arith::ShRUIOp::create(builder, value, bits);
  };
  Value high = width <= 32 ? shift(product, /*toTheLeft=*/false, width)
                           : higherHalf(builder, a, b);
  if (width > 32 && std::is_same_v<Extend, arith::ExtSIOp>) {
    // A negative number counts 2^64 too much.
    Value sign =
        createScalarOrSplatConstant(builder, builder.getLoc(), wide, 63);
    for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      Value isNegative = arith::ShRSIOp::create(builder, one, sign);
      high = arith::SubIOp::create(
          builder, high, arith::AndIOp::create(builder, isNegative, other));
    }
  }
  if (width > 32 && width < 64)
    high = arith::OrIOp::create(builder,
                                shift(high, /*toTheLeft=*/true, 64 - width),
                                shift(product, /*toTheLeft=*/false, width));
  return {convert(type, product), convert(type, high)};
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
