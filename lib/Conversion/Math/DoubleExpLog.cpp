//===- DoubleExpLog.cpp - Exponentials, logarithms and powers, f64 --------===//
//
// Upstream's polynomials are for f32, and its powf is exp(b log(a)) in f32: NaN
// for negative bases, and few right digits for large results. A function of
// libm has other bits than a GPU can give. These functions therefore consist of
// exact ops and fused multiply-adds, without branches, for scalars and vectors.
//
// Range reductions follow Cody and Waite, and fdlibm; the polynomials are
// Taylor's, cut where the remainder is below a hundredth of the last place.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoubleFormula.h"
#include <cmath>

using namespace ckpt;
using namespace mlir;

/// log(2) in two parts: whole multiples of the first are exact.
static constexpr double log2High = 0x1.62e42feep-1;
static constexpr double log2Low = 0x1.a39ef35793c76p-33;

using arith::CmpFPredicate;

//===----------------------------------------------------------------------===//
// Exponential functions
//===----------------------------------------------------------------------===//

Value ckpt::clamp(Formula &f, Value x, double low, double high) {
  x = f.select(f.is(CmpFPredicate::OLT, x, low), f.number(low), x);
  return f.select(f.is(CmpFPredicate::OGT, x, high), f.number(high), x);
}

/// The fraction of e^r, for |r| below 0.35.
static Value fractionOf(Formula &f, Value r) {
  Value sum =
      f.polynomial(r, /*count=*/12, [](int i) { return 1 / factorial(i + 2); });
  return f.fma(f.mul(r, r), sum, r);
}

Exponential ckpt::exponentialOf(Formula &f, Value x, Value low) {
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
Value ckpt::valueOf(Formula &f, const Exponential &e) {
  Value half = f.make<arith::ShRSIOp>(e.exponent, f.integer(1));
  Value rest = f.make<arith::SubIOp>(e.exponent, half);
  Value scaled = f.mul(f.add(f.number(1), e.fraction), f.powerOfTwo(half));
  return f.mul(scaled, f.powerOfTwo(rest));
}

Value ckpt::expandExp(Formula &f, ValueRange operands) {
  return valueOf(f, exponentialOf(f, clamp(f, operands[0], -746, 710)));
}

Value ckpt::expandExp2(Formula &f, ValueRange operands) {
  Value x = clamp(f, operands[0], -1076, 1025);
  Value shifted = f.add(x, f.number(toWhole));
  Value rest = f.sub(x, f.sub(shifted, f.number(toWhole)));
  return valueOf(
      f, {f.make<arith::SubIOp>(f.toBits(shifted), f.integer(toWholeBits)),
          fractionOf(f, f.mul(rest, f.number(M_LN2)))});
}

Value ckpt::halfOfExp(Formula &f, Value x) {
  Exponential e = exponentialOf(f, clamp(f, x, -746, 711));
  return valueOf(f,
                 {f.make<arith::SubIOp>(e.exponent, f.integer(1)), e.fraction});
}

/// Half of it is made, since 2^exponent alone may be infinite.
Value ckpt::minusOne(Formula &f, Value x) {
  Exponential e = exponentialOf(f, clamp(f, x, -60, 710));
  Value half = f.powerOfTwo(f.make<arith::SubIOp>(e.exponent, f.integer(1)));
  Value result = f.fma(half, e.fraction, f.sub(half, f.number(0.5)));
  result = f.mul(result, f.number(2));
  // Keeps the sign of zero.
  Value isTiny = f.is(CmpFPredicate::OLT, f.absolute(x), 0x1p-54);
  return f.select(isTiny, x, result);
}

Value ckpt::expandExpM1(Formula &f, ValueRange operands) {
  return minusOne(f, operands[0]);
}

/// -t / (2 + t) where t = e^(-2|x|) - 1.
Value ckpt::expandTanh(Formula &f, ValueRange operands) {
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

/// The logarithm of \p x, which is positive and finite. With m = x / 2^exponent
/// near 1 and s = (m - 1) / (m + 1), log(m) = 2 (s + s^3/3 + s^5/5 + ...).
static Logarithm logarithmOf(Formula &f, Value x) {
  Value isSmall = f.is(CmpFPredicate::OLT, x, 0x1p-1022);
  x = f.select(isSmall, f.mul(x, f.number(0x1p54)), x);
  Value bits = f.toBits(x);
  // Bits of sqrt(1/2), so that m is at least that.
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

Value ckpt::expandLog(Formula &f, ValueRange operands) {
  Value x = operands[0];
  return withSpecialLogs(f, x, naturalLog(f, x).high);
}

/// With a factor for the exponent of its own: exact for powers of two.
static Value logOfBase(Formula &f, Value x, double logOfTwo, double logOfE) {
  Logarithm l = logarithmOf(f, x);
  Value fraction = f.mul(l.log.high, f.number(logOfE));
  return withSpecialLogs(f, x, f.fma(l.exponent, f.number(logOfTwo), fraction));
}

Value ckpt::expandLog2(Formula &f, ValueRange operands) {
  return logOfBase(f, operands[0], 1, M_LOG2E);
}

Value ckpt::expandLog10(Formula &f, ValueRange operands) {
  return logOfBase(f, operands[0], M_LN2 / M_LN10, M_LOG10E);
}

/// log(u) x / (u - 1) for u = 1 + x as it is rounded: the error of u is in
/// both.
Value ckpt::expandLog1p(Formula &f, ValueRange operands) {
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

/// The cases of C's pow.
Value ckpt::expandPow(Formula &f, ValueRange operands) {
  Value a = operands[0], b = operands[1];
  Value size = f.absolute(a), half = f.mul(b, f.number(0.5));
  Value result = powerOf(f, size, b);
  auto select = [&](Value condition, Value value) {
    result = f.select(condition, value, result);
  };
  // The logarithm is zero and b infinite.
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
