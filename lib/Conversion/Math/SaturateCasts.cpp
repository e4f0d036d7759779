//===- SaturateCasts.cpp - Numbers beyond the integers of a type ----------===//
//
// LLVM leaves open which integer a number becomes that the type does not hold,
// and so do processors: results would depend on what a kernel fuses.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace ckpt {
#define GEN_PASS_DEF_SATURATECASTS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

using arith::CmpFPredicate;

static Value constant(ImplicitLocOpBuilder &builder, Type type,
                      TypedAttr value) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    value = DenseElementsAttr::get(shaped, Attribute(value));
  return arith::ConstantOp::create(builder, value);
}

static void saturate(Operation *cast) {
  bool isSigned = isa<arith::FPToSIOp>(cast);
  ImplicitLocOpBuilder builder(cast->getLoc(), cast);
  Value number = cast->getOperand(0), integer = cast->getResult(0);
  Type floats = number.getType(), integers = integer.getType();
  auto element = llvm::cast<IntegerType>(getElementTypeOrSelf(integers));
  unsigned width = element.getWidth();
  auto numberOf = [&](double value) {
    Type type = getElementTypeOrSelf(floats);
    return constant(builder, floats, builder.getFloatAttr(type, value));
  };
  auto integerOf = [&](const APInt &value) {
    return constant(builder, integers, builder.getIntegerAttr(element, value));
  };
  auto is = [&](CmpFPredicate predicate, Value bound) -> Value {
    return arith::CmpFOp::create(builder, predicate, number, bound);
  };
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, condition, a, b);
  };

  // Powers of two, which the float holds.
  Value above = numberOf(std::ldexp(1.0, width - isSigned));
  Value below = numberOf(isSigned ? -std::ldexp(1.0, width - 1) : -1.0);
  // No NaN is held.
  Value isHeld = arith::AndIOp::create(builder, is(CmpFPredicate::OLT, above),
                                       is(CmpFPredicate::OGT, below));
  cast->setOperand(0, select(isHeld, number, numberOf(0.0)));
  builder.setInsertionPointAfter(cast);
  Value largest = integerOf(isSigned ? APInt::getSignedMaxValue(width)
                                     : APInt::getMaxValue(width));
  Value result = select(is(CmpFPredicate::OGE, above), largest, integer);
  SmallPtrSet<Operation *, 2> own{result.getDefiningOp()};
  if (isSigned) {
    Value least = integerOf(APInt::getSignedMinValue(width));
    result = select(is(CmpFPredicate::OLE, below), least, result);
  }
  integer.replaceAllUsesExcept(result, own);
}

namespace {
struct SaturateCasts : public ckpt::impl::SaturateCastsBase<SaturateCasts> {
  void runOnOperation() override {
    SmallVector<Operation *> casts;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
        casts.push_back(op);
    });
    llvm::for_each(casts, saturate);
  }
};
} // namespace
