//===- DoubleHyperbolic.cpp - Hyperbolic functions and roots in f64 -------===//
//
// Of the exponential function and logarithms (DoubleExpLog.cpp), in the
// forms of fdlibm that lose no digits.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoubleFormula.h"
#include <cmath>

using namespace ckpt;
using namespace mlir;

using arith::CmpFPredicate;

/// Sizes from which on x and sqrt(x^2 + 1) are the same.
static constexpr double largeSize = 0x1p28;

/// e^|x| / 2 plus, or minus, e^-|x| / 2. The first is finite wherever the
/// result is.
static Value sumOfHalves(Formula &f, Value size, double sign) {
  Value half = halfOfExp(f, size);
  Value other = f.div(f.number(0.25 * sign), half);
  return f.add(half, other);
}

Value ckpt::expandCosh(Formula &f, ValueRange operands) {
  return sumOfHalves(f, f.absolute(operands[0]), 1);
}

/// (t + t / (t + 1)) / 2 where t = e^|x| - 1, below 1.
Value ckpt::expandSinh(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x);
  Value t = minusOne(f, size);
  Value near = f.add(t, f.div(t, f.add(t, f.number(1))));
  near = f.mul(near, f.number(0.5));
  Value isNear = f.is(CmpFPredicate::OLT, size, 1.0);
  Value result = f.select(isNear, near, sumOfHalves(f, size, -1));
  return f.make<math::CopySignOp>(result, x);
}

/// log(2 x), where that may be too large a number.
static Value logOfTwice(Formula &f, Value x) {
  return f.add(expandLog(f, x), f.number(M_LN2));
}

Value ckpt::expandAsinh(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x), one = f.number(1);
  Value square = f.mul(size, size);
  Value root = f.make<math::SqrtOp>(f.add(square, one));
  Value rest = f.add(size, f.div(square, f.add(root, one)));
  Value isLarge = f.is(CmpFPredicate::OGT, size, largeSize);
  Value result = f.select(isLarge, logOfTwice(f, size), expandLog1p(f, rest));
  return f.make<math::CopySignOp>(result, x);
}

Value ckpt::expandAcosh(Formula &f, ValueRange operands) {
  Value x = operands[0];
  Value t = f.sub(x, f.number(1));
  Value root = f.make<math::SqrtOp>(f.fma(t, t, f.add(t, t)));
  Value isLarge = f.is(CmpFPredicate::OGT, x, largeSize);
  Value result =
      f.select(isLarge, logOfTwice(f, x), expandLog1p(f, f.add(t, root)));
  return f.select(f.is(CmpFPredicate::OLT, x, 1.0), f.number(NAN), result);
}

/// log1p(2 x / (1 - x)) / 2 for x >= 0.
Value ckpt::expandAtanh(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x);
  Value rest = f.div(f.add(size, size), f.sub(f.number(1), size));
  Value result = f.mul(expandLog1p(f, rest), f.number(0.5));
  return f.make<math::CopySignOp>(result, x);
}

/// fdlibm's: a third of the exponent, a polynomial to 23 bits, one step of
/// Newton's.
Value ckpt::expandCbrt(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x);
  Value isSmall = f.is(CmpFPredicate::OLT, size, 0x1p-1022);
  Value scaled = f.select(isSmall, f.mul(size, f.number(0x1p54)), size);
  // The upper half of the bits, divided by 3.
  Value bits = f.make<arith::ShRUIOp>(f.toBits(scaled), f.integer(32));
  Value third = f.make<arith::ShRUIOp>(
      f.make<arith::MulIOp>(bits, f.integer(0x55555556)), f.integer(32));
  Value start = f.select(isSmall, f.integer(696219795), f.integer(715094163));
  third = f.make<arith::AddIOp>(third, start);
  Value t = f.fromBits(f.make<arith::ShLIOp>(third, f.integer(32)));

  constexpr double coefficients[] = {
      1.87595182427177009643, -1.88497979543377169875, 1.621429720105354466140,
      -0.758397934778766047437, 0.145996192886612446982};
  Value r = f.mul(f.mul(t, t), f.div(t, size));
  t = f.mul(t, f.polynomial(r, std::size(coefficients),
                            [&](int i) { return coefficients[i]; }));
  bits = f.make<arith::AddIOp>(f.toBits(t), f.integer(0x80000000));
  t = f.fromBits(f.make<arith::AndIOp>(
      bits, f.integer(static_cast<int64_t>(0xffffffffc0000000))));
  Value quotient = f.div(size, f.mul(t, t));
  Value step = f.div(f.sub(quotient, t), f.add(f.add(t, t), quotient));
  Value result = f.make<math::CopySignOp>(f.fma(t, step, t), x);
  // Zero, infinity and NaN.
  Value isUsual = f.both(f.is(CmpFPredicate::OGT, size, 0.0),
                         f.is(CmpFPredicate::OLT, size, infinity));
  return f.select(isUsual, result, x);
}
