//===- DoubleInverseTrigonometry.cpp - asin, acos, atan, atan2 ------------===//
//
// All four are the angle of a point (x, y): its octant, and fdlibm's polynomial
// for the arc tangent of the remainder, which is at most tan(pi/8).
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoubleFormula.h"

using namespace ckpt;
using namespace mlir;

using arith::CmpFPredicate;

/// pi/4 in two parts.
static constexpr double eighthHigh = 0x1.921fb54442d18p-1;
static constexpr double eighthLow = 0x1.1a62633145c07p-55;

/// Below the tangent of pi/8.
static constexpr double tangentOfSixteenth = 0.4142;

/// Coefficients of (t - atan(t)) / t^3 in t^2, for |t| up to 7/16.
static constexpr double arcRest[] = {
    3.33333333333329318027e-01, -1.99999999998764832476e-01,
    1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02,
    6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02,
    1.62858201153657823623e-02};

/// The angle of the point (\p x, \p y), of which neither is negative, both are
/// finite, and one is not zero. \p beyond turns it into pi minus the angle.
static Value angleOf(Formula &f, Value y, Value x, Value beyond) {
  Value isSteep = f.is(CmpFPredicate::OGT, y, x);
  Value small = f.select(isSteep, x, y), large = f.select(isSteep, y, x);
  Value isFlat = f.is(CmpFPredicate::OLE, small,
                      f.mul(large, f.number(tangentOfSixteenth)));
  // The difference is exact enough; the sum gets a second number.
  Pair sum = f.addExactly(large, small);
  Pair difference = f.addExactly(f.negate(large), small);
  Value zero = f.number(0);
  Value over = f.select(isFlat, small, difference.high);
  Value overLow = f.select(isFlat, zero, difference.low);
  Value under = f.select(isFlat, large, sum.high);
  Value underLow = f.select(isFlat, zero, sum.low);
  Value t = f.div(over, under);
  Value rest = f.fma(f.negate(t), under, over);
  rest = f.fma(f.negate(t), underLow, f.add(rest, overLow));
  rest = f.div(rest, under);

  Value square = f.mul(t, t);
  Value series = f.polynomial(square, std::size(arcRest),
                              [](int i) { return arcRest[i]; });
  Value arc = f.add(t, f.fma(f.negate(f.mul(t, square)), series, rest));
  // Multiples of pi/4 that the arc is added to, or taken from.
  Value eighths = f.select(isFlat, zero, f.number(1));
  auto subtractFrom = [&](Value condition, double from) {
    eighths = f.select(condition, f.sub(f.number(from), eighths), eighths);
    arc = f.select(condition, f.negate(arc), arc);
  };
  subtractFrom(isSteep, 2);
  if (beyond)
    subtractFrom(beyond, 4);
  return f.fma(eighths, f.number(eighthHigh),
               f.fma(eighths, f.number(eighthLow), arc));
}

Value ckpt::expandAtan(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x);
  // Beyond, the result is pi/2.
  Value isHuge = f.is(CmpFPredicate::OGT, size, 0x1p100);
  size = f.select(isHuge, f.number(0x1p100), size);
  Value result = angleOf(f, size, f.number(1), /*beyond=*/Value());
  return f.make<math::CopySignOp>(result, x);
}

/// The cases of C's atan2.
Value ckpt::expandAtan2(Formula &f, ValueRange operands) {
  Value y = operands[0], x = operands[1];
  Value ySize = f.absolute(y), xSize = f.absolute(x);
  Value one = f.number(1), zero = f.number(0);
  // Infinities become ones beside zeros.
  Value yIsInfinite = f.is(CmpFPredicate::OEQ, ySize, infinity);
  Value xIsInfinite = f.is(CmpFPredicate::OEQ, xSize, infinity);
  Value isInfinite = f.either(yIsInfinite, xIsInfinite);
  ySize = f.select(isInfinite, f.select(yIsInfinite, one, zero), ySize);
  xSize = f.select(isInfinite, f.select(xIsInfinite, one, zero), xSize);
  Value largest = f.make<arith::MaximumFOp>(ySize, xSize);
  Value areZero = f.is(CmpFPredicate::OEQ, largest, 0.0);
  xSize = f.select(areZero, one, xSize);
  // Sums stay finite, and quotients keep their digits.
  Value scale = f.select(f.is(CmpFPredicate::OGT, largest, 0x1p500),
                         f.number(0x1p-500), one);
  scale = f.select(f.is(CmpFPredicate::OLT, largest, 0x1p-500),
                   f.number(0x1p500), scale);
  scale = f.select(areZero, one, scale);
  Value isLeft =
      f.is(CmpFPredicate::OLT, f.make<math::CopySignOp>(one, x), 0.0);
  Value result = angleOf(f, f.mul(ySize, scale), f.mul(xSize, scale), isLeft);
  result = f.make<math::CopySignOp>(result, y);
  Value isNumber = f.is(CmpFPredicate::ORD, x, y);
  return f.select(isNumber, result, f.add(x, y));
}

/// The side of a right triangle beside \p x, whose longest side is 1.
static Value otherSide(Formula &f, Value size) {
  Value one = f.number(1);
  return f.make<math::SqrtOp>(f.mul(f.sub(one, size), f.add(one, size)));
}

Value ckpt::expandAsin(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x);
  Value result = angleOf(f, size, otherSide(f, size), /*beyond=*/Value());
  return f.make<math::CopySignOp>(result, x);
}

Value ckpt::expandAcos(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x);
  Value isLeft = f.is(CmpFPredicate::OLT, x, 0.0);
  return angleOf(f, otherSide(f, size), size, isLeft);
}
