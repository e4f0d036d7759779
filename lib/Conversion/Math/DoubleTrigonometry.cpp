//===- DoubleTrigonometry.cpp - Sine and cosine in f64 as arithmetic ------===//
//
// Takes away the nearest multiple of pi/2 first. A small multiple goes by fused
// multiply-adds with pi/2 in three parts (Cody and Waite), a large one by the
// significant bits of 2/pi (Payne and Hanek). Both are computed, since there
// are no branches. The remainder is two numbers, for Taylor's polynomials.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoubleFormula.h"
#include <array>
#include <cmath>

using namespace ckpt;
using namespace mlir;

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// pi/2 in three parts.
static constexpr double quarterHigh = 0x1.921fb54442d18p+0;
static constexpr double quarterMiddle = 0x1.1a62633145c07p-54;
static constexpr double quarterLow = -0x1.f1976b7ed8fbcp-110;

/// Sizes from which on the bits of 2/pi are taken.
static constexpr double largeSize = 0x1p30;

namespace {
/// quarters times pi/2 plus a rest of at most pi/4; of the quarters, the two
/// lowest bits count.
struct Angle {
  Value quarters;
  Pair rest;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Reduces \p size, which is below `largeSize`. The first difference is exact:
/// both numbers are multiples of the last place of pi/2.
static Angle reduceSmall(Formula &f, Value size) {
  Value shifted = f.fma(size, f.number(M_2_PI), f.number(toWhole));
  Value whole = f.sub(shifted, f.number(toWhole));
  Value first = f.fma(whole, f.number(-quarterHigh), size);
  Value second = f.mul(whole, f.number(-quarterMiddle));
  Value error = f.fma(whole, f.number(-quarterMiddle), f.negate(second));
  Pair sum = f.addAnyExactly(first, second);
  Value low = f.fma(whole, f.number(-quarterLow), f.add(sum.low, error));
  return {f.toBits(shifted), f.addExactly(sum.high, low)};
}

/// The bits of 2/pi behind the point, after 64 zeros.
static constexpr std::array<uint64_t, 20> quartersPerUnit = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// 192 bits.
using Wide = std::array<Value, 3>;

/// Bits of 2/pi from bit \p position on, the highest first.
static Wide bitsFrom(Formula &f, Value position) {
  constexpr size_t firstWords = quartersPerUnit.size() - 3;
  Value word = f.make<arith::ShRSIOp>(position, f.integer(6));
  Value shift = f.make<arith::AndIOp>(position, f.integer(63));
  std::array<Value, 4> words;
  for (size_t number = 0; number < words.size(); ++number)
    words[number] = f.integer(quartersPerUnit[number]);
  for (size_t first = 1; first < firstWords; ++first) {
    Value isHere =
        f.make<arith::CmpIOp>(CmpIPredicate::eq, word, f.integer(first));
    for (size_t number = 0; number < words.size(); ++number)
      words[number] = f.select(
          isHere, f.integer(quartersPerUnit[first + number]), words[number]);
  }
  Value rest = f.make<arith::SubIOp>(f.integer(63), shift);
  Wide bits;
  for (size_t number = 0; number < bits.size(); ++number) {
    // In two steps: a shift by all 64 bits has no value.
    Value next = f.make<arith::ShRUIOp>(words[number + 1], f.integer(1));
    bits[number] =
        f.make<arith::OrIOp>(f.make<arith::ShLIOp>(words[number], shift),
                             f.make<arith::ShRUIOp>(next, rest));
  }
  return bits;
}

/// The lowest 192 bits of \p factor times \p bits.
static Wide multiply(Formula &f, Value factor, const Wide &bits) {
  auto [low, fromLow] = f.multiplyWide(factor, bits[2]);
  auto [middle, fromMiddle] = f.multiplyWide(factor, bits[1]);
  middle = f.make<arith::AddIOp>(middle, fromLow);
  Value hasCarry = f.make<arith::CmpIOp>(CmpIPredicate::ult, middle, fromLow);
  Value carry = f.select(hasCarry, f.integer(1), f.integer(0));
  Value high = f.make<arith::MulIOp>(factor, bits[0]);
  high = f.make<arith::AddIOp>(f.make<arith::AddIOp>(high, fromMiddle), carry);
  return {high, middle, low};
}

/// \p high and \p low, two bits further up.
static Value shiftUp(Formula &f, Value high, Value low) {
  return f.make<arith::OrIOp>(f.make<arith::ShLIOp>(high, f.integer(2)),
                              f.make<arith::ShRUIOp>(low, f.integer(62)));
}

/// Reduces \p size, a whole number times 2^(exponent - 1075). Bits of 2/pi that
/// make multiples of four are left out, so the product counts units of 2^-190.
static Angle reduceLarge(Formula &f, Value size) {
  Value bits = f.toBits(size);
  Value exponent = f.make<arith::ShRUIOp>(bits, f.integer(mantissaBits));
  int64_t hiddenBit = int64_t(1) << mantissaBits;
  Value factor = f.make<arith::OrIOp>(
      f.make<arith::AndIOp>(bits, f.integer(hiddenBit - 1)),
      f.integer(hiddenBit));
  Value position = f.make<arith::SubIOp>(exponent, f.integer(1075 + 1 - 63));
  Wide product = multiply(f, factor, bitsFrom(f, position));
  // A fraction from -1/2 to 1/2, in units of 2^-64 and of 2^-128.
  Value high = shiftUp(f, product[0], product[1]);
  Value low = shiftUp(f, product[1], product[2]);
  Value quarters =
      f.make<arith::AddIOp>(f.make<arith::ShRUIOp>(product[0], f.integer(62)),
                            f.make<arith::ShRUIOp>(high, f.integer(63)));
  constexpr int64_t lastBits = 0x7ff;
  Value exact = f.toFloat(f.make<arith::AndIOp>(high, f.integer(~lastBits)));
  Value last = f.toFloat(f.make<arith::AndIOp>(high, f.integer(lastBits)));
  Value behind = f.toFloat(f.make<arith::ShRUIOp>(low, f.integer(1)));
  Pair fraction = f.addExactly(exact, last);
  fraction = f.addExactly(fraction.high,
                          f.fma(behind, f.number(0x1p-63), fraction.low));
  Value unit = f.number(0x1p-64);
  fraction = {f.mul(fraction.high, unit), f.mul(fraction.low, unit)};

  Value quarter = f.number(quarterHigh);
  Value large = f.mul(fraction.high, quarter);
  Value small = f.fma(fraction.high, quarter, f.negate(large));
  small = f.fma(fraction.high, f.number(quarterMiddle), small);
  small = f.fma(fraction.low, quarter, small);
  return {quarters, f.addExactly(large, small)};
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static Value sineOf(Formula &f, const Pair &rest) {
  Value square = f.mul(rest.high, rest.high);
  Value sum = f.polynomial(square, /*count=*/8, [](int i) {
    return (i % 2 == 0 ? -1 : 1) / factorial(2 * i + 3);
  });
  Value slope = f.fma(square, f.number(-0.5), f.number(1));
  Value small = f.mul(rest.low, slope);
  small = f.fma(f.mul(rest.high, square), sum, small);
  return f.add(rest.high, small);
}

static Value cosineOf(Formula &f, const Pair &rest) {
  Value square = f.mul(rest.high, rest.high);
  Value sum = f.polynomial(square, /*count=*/8, [](int i) {
    return (i % 2 == 0 ? 1 : -1) / factorial(2 * i + 4);
  });
  Value half = f.mul(square, f.number(0.5));
  Pair start = f.addExactly(f.number(1), f.negate(half));
  Value small = f.fma(f.negate(rest.high), rest.low, start.low);
  small = f.fma(f.mul(square, square), sum, small);
  return f.add(start.high, small);
}

/// Reduces \p x without its sign, by the method for its size.
static Angle angleOf(Formula &f, Value x) {
  Value size = f.absolute(x);
  Angle small = reduceSmall(f, size), large = reduceLarge(f, size);
  Value isSmall = f.is(CmpFPredicate::OLT, size, largeSize);
  Value isFinite = f.is(CmpFPredicate::OLT, size, infinity);
  Value high = f.select(isSmall, small.rest.high, large.rest.high);
  return {f.select(isSmall, small.quarters, large.quarters),
          {f.select(isFinite, high, f.number(NAN)),
           f.select(isSmall, small.rest.low, large.rest.low)}};
}

static Value isOdd(Formula &f, Value quarters) {
  return f.make<arith::CmpIOp>(CmpIPredicate::ne,
                               f.make<arith::AndIOp>(quarters, f.integer(1)),
                               f.integer(0));
}

Value ckpt::waveIn(Formula &f, Value quarters, Value sine, Value cosine) {
  Value result = f.select(isOdd(f, quarters), cosine, sine);
  Value sign = f.make<arith::ShLIOp>(
      f.make<arith::AndIOp>(quarters, f.integer(2)), f.integer(62));
  return f.fromBits(f.make<arith::XOrIOp>(f.toBits(result), sign));
}

Value ckpt::tangentIn(Formula &f, Value quarters, Value sine, Value cosine) {
  Value odd = isOdd(f, quarters);
  return f.div(f.select(odd, f.negate(cosine), sine),
               f.select(odd, sine, cosine));
}

/// The sine of \p x plus \p more quarters, but for the sign of x.
static Value waveOf(Formula &f, Value x, int64_t more) {
  Angle angle = angleOf(f, x);
  Value quarters = f.make<arith::AddIOp>(angle.quarters, f.integer(more));
  return waveIn(f, quarters, sineOf(f, angle.rest), cosineOf(f, angle.rest));
}

Value ckpt::expandSin(Formula &f, ValueRange operands) {
  Value x = operands[0];
  Value sign = f.make<math::CopySignOp>(f.number(1), x);
  return f.mul(waveOf(f, x, /*more=*/0), sign);
}

Value ckpt::expandCos(Formula &f, ValueRange operands) {
  return waveOf(f, operands[0], /*more=*/1);
}

Value ckpt::expandTan(Formula &f, ValueRange operands) {
  Value x = operands[0];
  Angle angle = angleOf(f, x);
  Value tangent = tangentIn(f, angle.quarters, sineOf(f, angle.rest),
                            cosineOf(f, angle.rest));
  Value sign = f.make<math::CopySignOp>(f.number(1), x);
  return f.mul(tangent, sign);
}
