//===- DoubleErrorFunction.cpp - erf and erfc in f64 ----------------------===//
//
// Taylor's series near zero. Further out, polynomials for the remainder times
// e^(x^2), since a series takes too many terms.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoubleFormula.h"

using namespace ckpt;
using namespace mlir;

using arith::CmpFPredicate;

/// Coefficients of e^(x^2) (1 - erf(x)) from 1 to 6, in t = (x - 2) / (x + 2):
/// through Chebyshev's points, computed in 90 digits. The result is off by less
/// than 0.012 units of its last place.
static constexpr double scaledRest[] = {
    0x1.058671b52c776p-2,   -0x1.b57034efd3f72p-2,  0x1.eeea7dc8a78b7p-3,
    -0x1.437f0b68c0bdcp-4,  0x1.e947159797158p-9,   0x1.ca95ed532b26cp-8,
    -0x1.bc25a4763b3cap-11, -0x1.016b5cdbae621p-10, 0x1.6d5ef188bff89p-15,
    0x1.6da9701b2c57cp-13,  0x1.cdcd09b79ebebp-16,  -0x1.ceb69de6e21dbp-16,
    -0x1.d4b0d3d3aaf27p-17, 0x1.75d432f39d289p-20,  0x1.fc947548a0e7cp-19,
    0x1.3c3cdeef1f68fp-20,  -0x1.1dc296ab25c2bp-21, -0x1.c49d5026d94f2p-22};

static Value scaledRestOf(Formula &f, Value a) {
  Value two = f.number(2);
  Value t = f.div(f.sub(a, two), f.add(a, two));
  return f.polynomial(t, std::size(scaledRest),
                      [](int i) { return scaledRest[i]; });
}

/// Coefficients of x e^(x^2) (1 - erf(x)) from 6 to 28 in 1 / x^2, made alike;
/// off by less than 0.04 units of the last place.
static constexpr double scaledRestFar[] = {
    0x1.20dd750429b6dp-1,   -0x1.20dd750429a16p-2, 0x1.b14c2f85fac2dp-2,
    -0x1.0ecf9d973dc62p+0,  0x1.d9eb4550e4ea8p+1,  -0x1.0a9327d09228ep+4,
    0x1.6e6912a9053edp+6,   -0x1.28763716d43fcp+9, 0x1.0dbee1fe52e04p+12,
    -0x1.f4d9bb12be596p+14, 0x1.852a002bea796p+17, -0x1.574bfbe7e63f4p+19};

static Value scaledRestFarOut(Formula &f, Value a) {
  Value inverse = f.div(f.number(1), a);
  Value sum = f.polynomial(f.mul(inverse, inverse), std::size(scaledRestFar),
                           [](int i) { return scaledRestFar[i]; });
  return f.mul(sum, inverse);
}

/// Taylor's series below 1: x plus its remainder.
static Value erfNearZero(Formula &f, Value x) {
  constexpr double beyondOne = 0.1283791670955125738961589;
  Value sum = f.polynomial(f.mul(x, x), /*count=*/20, [](int i) {
    double sign = i % 2 == 0 ? 1 : -1;
    return i == 0 ? beyondOne
                  : sign * (1 + beyondOne) / (factorial(i) * (2 * i + 1));
  });
  return f.fma(sum, x, x);
}

Value ckpt::expandErf(Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.absolute(x);
  Value a = clamp(f, size, 1, 6);
  Value power = valueOf(f, exponentialOf(f, f.negate(f.mul(a, a))));
  Value far = f.fma(f.negate(power), scaledRestOf(f, a), f.number(1));
  return f.select(f.is(CmpFPredicate::OLT, size, 1.0), erfNearZero(f, x),
                  f.make<math::CopySignOp>(far, x));
}

/// 1 - erf(x) below 1; beyond, the scaled rest times e^(-x^2), whose exponent
/// takes two numbers.
Value ckpt::expandErfc(Formula &f, ValueRange operands) {
  Value x = operands[0];
  Value near = f.sub(f.number(1), expandErf(f, x));
  Value a = clamp(f, x, 1, 28);
  Value square = f.mul(a, a);
  Value low = f.fma(a, a, f.negate(square));
  Value power = valueOf(f, exponentialOf(f, f.negate(square), f.negate(low)));
  Value scaled =
      f.select(f.is(CmpFPredicate::OLT, a, 6.0),
               scaledRestOf(f, clamp(f, a, 1, 6)), scaledRestFarOut(f, a));
  Value isNear = f.is(CmpFPredicate::OLT, x, 1.0);
  return f.select(isNear, near, f.mul(power, scaled));
}
