//===- DoubleFunctions.cpp - Functions in f64 as arithmetic ---------------===//
//
// Upstream's polynomials are for f32, and its powf is exp(b log(a)) in f32: NaN
// for negative bases, and few right digits for large results. A function of
// libm has other bits than a GPU can give. So these are written here, of exact
// ops and fused multiply-adds, without branches, for scalars and vectors.
//
// Range reductions are those of Cody and Waite, and of fdlibm; the polynomials
// are Taylor's, cut where the rest is below a hundredth of the last place.
//
//===----------------------------------------------------------------------===//

#include "DoubleFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>
#include <limits>

using namespace mlir;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// log(2) in two parts: whole multiples of the first are exact.
static constexpr double log2High = 0x1.62e42feep-1;
static constexpr double log2Low = 0x1.a39ef35793c76p-33;
/// Added to a small number, it leaves the nearest whole one in the low bits.
static constexpr double toWhole = 0x1.8p52;
static constexpr int64_t toWholeBits = 0x4338000000000000;
static constexpr int mantissaBits = 52;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {
/// A sum of two numbers, the second of them below the last place of the first.
struct Pair {
  Value high, low;
};

/// Emits ops on f64, or on vectors of it.
class Formula {
public:
  Formula(OpBuilder &builder, Location loc, Type type)
      : builder(loc, builder), type(type) {}

  Value number(double value) {
    return constant(type, builder.getF64FloatAttr(value));
  }
  Value integer(int64_t value) {
    return constant(integerType(), builder.getI64IntegerAttr(value));
  }
  Value toBits(Value x) { return make<arith::BitcastOp>(integerType(), x); }
  Value fromBits(Value bits) { return make<arith::BitcastOp>(type, bits); }

  template <typename Op, typename... Arguments>
  Value make(Arguments &&...arguments) {
    return Op::create(builder, std::forward<Arguments>(arguments)...);
  }
  Value add(Value a, Value b) { return make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) { return make<math::FmaOp>(a, b, c); }
  Value negate(Value a) { return make<arith::NegFOp>(a); }
  Value absolute(Value a) { return make<math::AbsFOp>(a); }
  Value is(arith::CmpFPredicate predicate, Value a, Value b) {
    return make<arith::CmpFOp>(predicate, a, b);
  }
  Value is(arith::CmpFPredicate predicate, Value a, double b) {
    return is(predicate, a, number(b));
  }
  Value both(Value a, Value b) { return make<arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return make<arith::OrIOp>(a, b); }
  Value select(Value condition, Value a, Value b) {
    return make<arith::SelectOp>(condition, a, b);
  }

  /// The sum of two numbers of which the first is larger, without an error.
  Pair addExactly(Value large, Value small) {
    Value high = add(large, small);
    return {high, add(sub(large, high), small)};
  }

  /// The sum of coefficient(i) x^i below \p count.
  template <typename Coefficient>
  Value polynomial(Value x, int count, Coefficient coefficient) {
    Value sum = number(coefficient(count - 1));
    for (int i = count - 2; i >= 0; --i)
      sum = fma(sum, x, number(coefficient(i)));
    return sum;
  }

  /// A small whole number as a floating-point one.
  Value wholeToFloat(Value whole) {
    Value bits = make<arith::AddIOp>(whole, integer(toWholeBits));
    return sub(fromBits(bits), number(toWhole));
  }
  /// 2^i for whole numbers from -1022 to 1023.
  Value powerOfTwo(Value i) {
    Value exponent = make<arith::AddIOp>(i, integer(1023));
    return fromBits(make<arith::ShLIOp>(exponent, integer(mantissaBits)));
  }

private:
  Type integerType() {
    Type element = builder.getI64Type();
    auto vector = dyn_cast<VectorType>(type);
    return vector ? vector.clone(element) : element;
  }
  Value constant(Type type, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(type))
      value = DenseElementsAttr::get(vector, value);
    return make<arith::ConstantOp>(value);
  }

  ImplicitLocOpBuilder builder;
  Type type;
};
} // namespace

using arith::CmpFPredicate;

//===----------------------------------------------------------------------===//
// Exponential functions
//===----------------------------------------------------------------------===//

namespace {
/// e^x as 2^exponent (1 + fraction).
struct Exponential {
  Value exponent, fraction;
};
} // namespace

/// Results that are zero or infinite stay so, and NaN is kept.
static Value clamp(Formula &f, Value x, double low, double high) {
  x = f.select(f.is(CmpFPredicate::OLT, x, low), f.number(low), x);
  return f.select(f.is(CmpFPredicate::OGT, x, high), f.number(high), x);
}

static double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

/// The fraction of e^r, for |r| below 0.35.
static Value fractionOf(Formula &f, Value r) {
  Value sum =
      f.polynomial(r, /*count=*/12, [](int i) { return 1 / factorial(i + 2); });
  return f.fma(f.mul(r, r), sum, r);
}

/// Of \p x, which is clamped, plus \p low.
static Exponential exponentialOf(Formula &f, Value x, Value low = {}) {
  Value shifted = f.fma(x, f.number(1 / M_LN2), f.number(toWhole));
  Value whole = f.sub(shifted, f.number(toWhole));
  Value r = f.fma(whole, f.number(-log2High), x);
  r = f.fma(whole, f.number(-log2Low), r);
  if (low)
    r = f.add(r, low);
  return {f.make<arith::SubIOp>(f.toBits(shifted), f.integer(toWholeBits)),
          fractionOf(f, r)};
}

/// In two steps, since 2^exponent alone may be none.
static Value valueOf(Formula &f, const Exponential &e) {
  Value half = f.make<arith::ShRSIOp>(e.exponent, f.integer(1));
  Value rest = f.make<arith::SubIOp>(e.exponent, half);
  Value scaled = f.mul(f.add(f.number(1), e.fraction), f.powerOfTwo(half));
  return f.mul(scaled, f.powerOfTwo(rest));
}

static Value expandExp(Formula &f, ValueRange operands) {
  return valueOf(f, exponentialOf(f, clamp(f, operands[0], -746, 710)));
}

static Value expandExp2(Formula &f, ValueRange operands) {
  Value x = clamp(f, operands[0], -1076, 1025);
  Value shifted = f.add(x, f.number(toWhole));
  Value rest = f.sub(x, f.sub(shifted, f.number(toWhole)));
  return valueOf(
      f, {f.make<arith::SubIOp>(f.toBits(shifted), f.integer(toWholeBits)),
          fractionOf(f, f.mul(rest, f.number(M_LN2)))});
}

/// e^x - 1. Half of it is made, since 2^exponent alone may be infinite.
static Value minusOne(Formula &f, Value x) {
  Exponential e = exponentialOf(f, clamp(f, x, -60, 710));
  Value half = f.powerOfTwo(f.make<arith::SubIOp>(e.exponent, f.integer(1)));
  Value result = f.fma(half, e.fraction, f.sub(half, f.number(0.5)));
  result = f.mul(result, f.number(2));
  // Keeps the sign of zero.
  Value isTiny = f.is(CmpFPredicate::OLT, f.absolute(x), 0x1p-54);
  return f.select(isTiny, x, result);
}

static Value expandExpM1(Formula &f, ValueRange operands) {
  return minusOne(f, operands[0]);
}

/// -t / (2 + t) where t = e^(-2|x|) - 1.
static Value expandTanh(Formula &f, ValueRange operands) {
  Value x = operands[0];
  Value t = minusOne(f, f.mul(f.absolute(x), f.number(-2)));
  Value result = f.div(f.negate(t), f.add(t, f.number(2)));
  return f.make<math::CopySignOp>(result, x);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^exponent e^log.
struct Logarithm {
  Value exponent;
  Pair log;
};
} // namespace

/// Of \p x, which is positive and finite. With m = x / 2^exponent near 1 and
/// s = (m - 1) / (m + 1), log(m) = 2 (s + s^3/3 + s^5/5 + ...).
static Logarithm logarithmOf(Formula &f, Value x) {
  Value isSmall = f.is(CmpFPredicate::OLT, x, 0x1p-1022);
  x = f.select(isSmall, f.mul(x, f.number(0x1p54)), x);
  Value bits = f.toBits(x);
  // Those of sqrt(1/2), so that m is at least that.
  Value above = f.make<arith::SubIOp>(bits, f.integer(0x3fe6a09e667f3bcd));
  Value whole = f.make<arith::ShRSIOp>(above, f.integer(mantissaBits));
  Value m = f.fromBits(f.make<arith::SubIOp>(
      bits, f.make<arith::ShLIOp>(whole, f.integer(mantissaBits))));
  Value exponent = f.wholeToFloat(whole);
  exponent = f.select(isSmall, f.sub(exponent, f.number(54)), exponent);

  Value difference = f.sub(m, f.number(1));
  Pair sum = f.addExactly(f.number(2), difference);
  Value s = f.div(difference, sum.high);
  Value rest = f.fma(f.negate(s), sum.high, difference);
  rest = f.div(f.fma(f.negate(s), sum.low, rest), sum.high);
  Value square = f.mul(s, s);
  Value tail = f.polynomial(square, /*count=*/11,
                            [](int i) { return 2.0 / (2 * i + 3); });
  tail = f.mul(f.mul(s, square), tail);
  Value two = f.number(2);
  return {exponent, f.addExactly(f.mul(s, two), f.fma(rest, two, tail))};
}

static Pair naturalLog(Formula &f, Value x) {
  Logarithm l = logarithmOf(f, x);
  Pair sum = f.addExactly(f.mul(l.exponent, f.number(log2High)), l.log.high);
  Value low = f.fma(l.exponent, f.number(log2Low), l.log.low);
  return f.addExactly(sum.high, f.add(sum.low, low));
}

/// \p result, but where \p x is no positive finite number.
static Value withSpecialLogs(Formula &f, Value x, Value result) {
  Value isFinite = f.is(CmpFPredicate::OLT, x, infinity);
  result = f.select(isFinite, result, x);
  result = f.select(f.is(CmpFPredicate::OLT, x, 0.0), f.number(NAN), result);
  Value isZero = f.is(CmpFPredicate::OEQ, x, 0.0);
  return f.select(isZero, f.number(-infinity), result);
}

static Value expandLog(Formula &f, ValueRange operands) {
  Value x = operands[0];
  return withSpecialLogs(f, x, naturalLog(f, x).high);
}

/// With a factor for the exponent of its own: exact for powers of two.
static Value logOfBase(Formula &f, Value x, double logOfTwo, double logOfE) {
  Logarithm l = logarithmOf(f, x);
  Value fraction = f.mul(l.log.high, f.number(logOfE));
  return withSpecialLogs(f, x, f.fma(l.exponent, f.number(logOfTwo), fraction));
}

static Value expandLog2(Formula &f, ValueRange operands) {
  return logOfBase(f, operands[0], 1, M_LOG2E);
}

static Value expandLog10(Formula &f, ValueRange operands) {
  return logOfBase(f, operands[0], M_LN2 / M_LN10, M_LOG10E);
}

/// log(u) x / (u - 1) for u = 1 + x as it is rounded: the error of u is in
/// both.
static Value expandLog1p(Formula &f, ValueRange operands) {
  Value x = operands[0];
  Value u = f.add(x, f.number(1));
  Value log = withSpecialLogs(f, u, naturalLog(f, u).high);
  Value result = f.mul(log, f.div(x, f.sub(u, f.number(1))));
  result = f.select(f.is(CmpFPredicate::OEQ, u, x), log, result);
  return f.select(f.is(CmpFPredicate::OEQ, u, 1.0), x, result);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// e^(b log(a)) for a >= 0, with the logarithm in two numbers.
static Value powerOf(Formula &f, Value a, Value b) {
  Pair log = naturalLog(f, a);
  Value high = f.mul(b, log.high);
  Value low = f.fma(b, log.high, f.negate(high));
  low = f.fma(b, log.low, low);
  // Beyond, the result is zero or infinite, and so may be b.
  Value isUsual = f.is(CmpFPredicate::OLT, f.absolute(high), 800.0);
  low = f.select(isUsual, low, f.number(0));
  Value result = valueOf(f, exponentialOf(f, clamp(f, high, -746, 710), low));

  Value grows = f.is(CmpFPredicate::OGT, a, 1.0);
  Value isPositive = f.is(CmpFPredicate::OGT, b, 0.0);
  Value toInfinity =
      f.make<arith::CmpIOp>(arith::CmpIPredicate::eq, grows, isPositive);
  Value limit = f.select(toInfinity, f.number(infinity), f.number(0));
  Value hasLimit = f.both(f.either(f.is(CmpFPredicate::OEQ, a, 0.0),
                                   f.is(CmpFPredicate::OEQ, a, infinity)),
                          f.is(CmpFPredicate::ORD, b, b));
  return f.select(hasLimit, limit, result);
}

/// The cases are those of C's pow.
static Value expandPow(Formula &f, ValueRange operands) {
  Value a = operands[0], b = operands[1];
  Value size = f.absolute(a), half = f.mul(b, f.number(0.5));
  Value result = powerOf(f, size, b);
  auto select = [&](Value condition, Value value) {
    result = f.select(condition, value, result);
  };
  // Where the logarithm is zero and b infinite.
  Value isInfinite = f.is(CmpFPredicate::OEQ, f.absolute(b), infinity);
  select(f.both(f.is(CmpFPredicate::OEQ, size, 1.0), isInfinite), f.number(1));
  Value isWhole = f.is(CmpFPredicate::OEQ, f.make<math::TruncOp>(b), b);
  Value isOdd = f.both(
      isWhole, f.is(CmpFPredicate::ONE, f.make<math::TruncOp>(half), half));
  select(isOdd, f.make<math::CopySignOp>(result, a));
  Value isNegative = f.both(f.is(CmpFPredicate::OLT, a, 0.0),
                            f.is(CmpFPredicate::OGT, a, -infinity));
  select(
      f.both(isNegative, f.is(CmpFPredicate::UNE, f.make<math::TruncOp>(b), b)),
      f.number(NAN));
  select(f.is(CmpFPredicate::UNO, a, a), a);
  select(f.either(f.is(CmpFPredicate::OEQ, b, 0.0),
                  f.is(CmpFPredicate::OEQ, a, 1.0)),
         f.number(1));
  return result;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
template <typename Op, Value (*expand)(Formula &, ValueRange)>
struct ExpandDouble : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    Formula formula(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, expand(formula, op->getOperands()));
    return success();
  }
};

/// Computes in f64 what is in f32.
template <typename Op>
struct WidenToDouble : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), wide = rewriter.getF64Type();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          arith::ExtFOp::create(rewriter, op.getLoc(), wide, operand));
    Value result = Op::create(rewriter, op.getLoc(), wide, operands);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, result);
    return success();
  }
};

/// Squares are the most frequent powers, and exact as products.
struct ExpandSquare : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat exponent(0.0);
    if (!matchPattern(op.getRhs(), m_ConstantFloat(&exponent)) ||
        !exponent.isExactlyValue(2.0))
      return failure();
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), op.getLhs());
    return success();
  }
};
} // namespace

void ckpt::populateDoubleFunctionPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns
      .add<ExpandDouble<math::ExpOp, expandExp>,
           ExpandDouble<math::Exp2Op, expandExp2>,
           ExpandDouble<math::ExpM1Op, expandExpM1>,
           ExpandDouble<math::LogOp, expandLog>,
           ExpandDouble<math::Log10Op, expandLog10>,
           ExpandDouble<math::Log1pOp, expandLog1p>,
           ExpandDouble<math::Log2Op, expandLog2>,
           ExpandDouble<math::PowFOp, expandPow>,
           ExpandDouble<math::TanhOp, expandTanh>, WidenToDouble<math::Exp2Op>,
           WidenToDouble<math::Log10Op>, WidenToDouble<math::PowFOp>>(context);
  patterns.add<ExpandSquare>(context, /*benefit=*/2);
}
