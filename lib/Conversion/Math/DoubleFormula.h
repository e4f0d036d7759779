//===- DoubleFormula.h - Emits arithmetic in f64 ----------------*- C++ -*-===//
//
// Builds functions in f64 from exact ops and fused multiply-adds, on scalars or
// vectors, without branches.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_MATH_DOUBLEFORMULA_H
#define CKPT_LIB_CONVERSION_MATH_DOUBLEFORMULA_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <limits>

namespace ckpt {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
/// Added to a small number, it leaves the nearest whole one in the low bits.
inline constexpr double toWhole = 0x1.8p52;
inline constexpr int64_t toWholeBits = 0x4338000000000000;
inline constexpr int mantissaBits = 52;

/// A sum of two numbers, the second of them below the last place of the first.
struct Pair {
  Value high, low;
};

/// Emits ops on f64, or on vectors of it.
class Formula {
public:
  Formula(mlir::OpBuilder &builder, mlir::Location loc, Type type)
      : builder(loc, builder), type(type) {}

  Value number(double value) {
    return constant(type, builder.getF64FloatAttr(value));
  }
  Value integer(int64_t value) {
    return constant(integerType(), builder.getI64IntegerAttr(value));
  }
  Value toBits(Value x) {
    return make<mlir::arith::BitcastOp>(integerType(), x);
  }
  Value fromBits(Value bits) {
    return make<mlir::arith::BitcastOp>(type, bits);
  }

  template <typename Op, typename... Arguments>
  Value make(Arguments &&...arguments) {
    return Op::create(builder, std::forward<Arguments>(arguments)...);
  }
  Value add(Value a, Value b) { return make<mlir::arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<mlir::arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<mlir::arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<mlir::arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) {
    return make<mlir::math::FmaOp>(a, b, c);
  }
  Value negate(Value a) { return make<mlir::arith::NegFOp>(a); }
  Value absolute(Value a) { return make<mlir::math::AbsFOp>(a); }
  Value is(mlir::arith::CmpFPredicate predicate, Value a, Value b) {
    return make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  Value is(mlir::arith::CmpFPredicate predicate, Value a, double b) {
    return is(predicate, a, number(b));
  }
  Value both(Value a, Value b) { return make<mlir::arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return make<mlir::arith::OrIOp>(a, b); }
  Value select(Value condition, Value a, Value b) {
    return make<mlir::arith::SelectOp>(condition, a, b);
  }

  /// The sum of two numbers of which the first is larger, without an error.
  Pair addExactly(Value large, Value small) {
    Value high = add(large, small);
    return {high, add(sub(large, high), small)};
  }
  /// The same where neither may be assumed to be larger.
  Pair addAnyExactly(Value a, Value b) {
    Value high = add(a, b);
    Value fromB = sub(high, a);
    return {high, add(sub(a, sub(high, fromB)), sub(b, fromB))};
  }

  /// The sum of coefficient(i) x^i below \p count.
  template <typename Coefficient>
  Value polynomial(Value x, int count, Coefficient coefficient) {
    Value sum = number(coefficient(count - 1));
    for (int i = count - 2; i >= 0; --i)
      sum = fma(sum, x, number(coefficient(i)));
    return sum;
  }

  /// The lower and the higher half of a product of whole numbers.
  std::pair<Value, Value> multiplyWide(Value a, Value b) {
    auto product = mlir::arith::MulUIExtendedOp::create(builder, a, b);
    return {product.getLow(), product.getHigh()};
  }
  /// A whole number, rounded.
  Value toFloat(Value whole) {
    return make<mlir::arith::SIToFPOp>(type, whole);
  }
  /// A small whole number as a floating-point one.
  Value wholeToFloat(Value whole) {
    Value bits = make<mlir::arith::AddIOp>(whole, integer(toWholeBits));
    return sub(fromBits(bits), number(toWhole));
  }
  /// 2^i for whole numbers from -1022 to 1023.
  Value powerOfTwo(Value i) {
    Value exponent = make<mlir::arith::AddIOp>(i, integer(1023));
    return fromBits(make<mlir::arith::ShLIOp>(exponent, integer(mantissaBits)));
  }

private:
  Type integerType() {
    Type element = builder.getI64Type();
    auto vector = dyn_cast<mlir::VectorType>(type);
    return vector ? vector.clone(element) : element;
  }
  Value constant(Type type, mlir::TypedAttr value) {
    if (auto vector = dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector, value);
    return make<mlir::arith::ConstantOp>(value);
  }

  mlir::ImplicitLocOpBuilder builder;
  Type type;
};

inline double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

/// e^x as 2^exponent (1 + fraction).
struct Exponential {
  Value exponent, fraction;
};

/// The sine and the tangent of an angle of \p quarters of a turn and a rest, by
/// the sine and the cosine of the rest.
Value waveIn(Formula &f, Value quarters, Value sine, Value cosine);
Value tangentIn(Formula &f, Value quarters, Value sine, Value cosine);

/// Clamps to the range outside of which results are zero or infinite; NaN is
/// kept.
Value clamp(Formula &f, Value x, double low, double high);
/// The exponential of \p x, which is clamped, plus \p low.
Exponential exponentialOf(Formula &f, Value x, Value low = {});
Value valueOf(Formula &f, const Exponential &e);
/// e^x / 2, finite wherever it is below the largest number.
Value halfOfExp(Formula &f, Value x);
/// e^x - 1.
Value minusOne(Formula &f, Value x);

/// The result of the op of that name on its operands, in f64.
using Expansion = Value(Formula &f, mlir::ValueRange operands);
Expansion expandAcos, expandAcosh, expandAsin, expandAsinh, expandAtan,
    expandAtan2, expandAtanh, expandCbrt, expandCos, expandCosh, expandErf,
    expandErfc, expandExp, expandExp2, expandExpM1, expandLog, expandLog10,
    expandLog1p, expandLog2, expandPow, expandSin, expandSinh, expandTan,
    expandTanh;
/// The same to the digits of f32, for numbers that an f32 holds.
Expansion expandSingleCos, expandSingleSin, expandSingleTan;

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_MATH_DOUBLEFORMULA_H
