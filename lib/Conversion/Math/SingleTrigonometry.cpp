//===- SingleTrigonometry.cpp - Sine, cosine and tangent in f32 -----------===//
//
// In f64, which has digits enough that one number is left of the reduction. As
// in DoubleTrigonometry.cpp, the multiple of pi/2 is taken away by fused
// multiply-adds where it is small, else by the bits of 2/pi that matter. An f32
// has 24 bits, so three words of 32 of these do.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoubleFormula.h"
#include <array>
#include <cmath>

using namespace ckpt;
using namespace mlir;

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// pi/2 in two parts.
static constexpr double quarterHigh = 0x1.921fb54442d18p+0;
static constexpr double quarterMiddle = 0x1.1a62633145c07p-54;

/// Sizes from which on the bits of 2/pi are taken.
static constexpr double largeSize = 0x1p30;

/// The bits of 2/pi behind the point, as far as the largest f32 needs them.
static constexpr std::array<uint64_t, 4> quartersPerUnit = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561};

namespace {
/// quarters times pi/2 plus a rest of at most pi/4; of the quarters, the two
/// lowest bits count.
struct Angle {
  Value quarters, rest;
};
} // namespace

static Angle reduceSmall(Formula &f, Value size) {
  Value shifted = f.fma(size, f.number(M_2_PI), f.number(toWhole));
  Value whole = f.sub(shifted, f.number(toWhole));
  Value rest = f.fma(whole, f.number(-quarterHigh), size);
  rest = f.fma(whole, f.number(-quarterMiddle), rest);
  return {f.toBits(shifted), rest};
}

/// The 64 bits of 2/pi from \p bits further on than bit 64 times \p word.
static Value bitsFrom(Formula &f, Value high, Value low, Value shift) {
  // In two steps: a shift by all 64 bits has no value.
  Value next = f.make<arith::ShRUIOp>(low, f.integer(1));
  Value rest = f.make<arith::SubIOp>(f.integer(63), shift);
  return f.make<arith::OrIOp>(f.make<arith::ShLIOp>(high, shift),
                              f.make<arith::ShRUIOp>(next, rest));
}

/// Reduces \p size, a whole number of 24 bits times 2^(exponent - 1046). Bits
/// of 2/pi that make multiples of four are left out, so the sum counts units of
/// 2^-62.
static Angle reduceLarge(Formula &f, Value size) {
  Value bits = f.toBits(size);
  Value exponent = f.make<arith::ShRUIOp>(bits, f.integer(mantissaBits));
  int64_t hiddenBit = int64_t(1) << 23;
  Value factor = f.make<arith::OrIOp>(
      f.make<arith::AndIOp>(
          f.make<arith::ShRUIOp>(bits, f.integer(mantissaBits - 23)),
          f.integer(hiddenBit - 1)),
      f.integer(hiddenBit));
  Value position = f.make<arith::SubIOp>(exponent, f.integer(1046 + 2));
  Value isFar =
      f.make<arith::CmpIOp>(CmpIPredicate::sge, position, f.integer(64));
  std::array<Value, 3> words;
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = f.select(isFar, f.integer(quartersPerUnit[i + 1]),
                        f.integer(quartersPerUnit[i]));
  Value shift = f.make<arith::AndIOp>(position, f.integer(63));
  Value high = bitsFrom(f, words[0], words[1], shift);
  Value low = bitsFrom(f, words[1], words[2], shift);

  Value half = f.integer(32);
  Value sum = f.make<arith::MulIOp>(factor, high);
  Value more = f.make<arith::MulIOp>(factor, f.make<arith::ShRUIOp>(low, half));
  sum = f.make<arith::AddIOp>(sum, f.make<arith::ShRUIOp>(more, half));
  Value rounded = f.make<arith::AddIOp>(sum, f.integer(int64_t(1) << 61));
  Value quarters = f.make<arith::ShRUIOp>(rounded, f.integer(62));
  Value fraction = f.make<arith::SubIOp>(
      sum, f.make<arith::ShLIOp>(quarters, f.integer(62)));
  return {quarters,
          f.mul(f.toFloat(fraction), f.number(quarterHigh * 0x1p-62))};
}

namespace {
struct Waves {
  Value sine, cosine, quarters;
};
} // namespace

static Waves wavesOf(Formula &f, Value x) {
  Value size = f.absolute(x);
  Angle small = reduceSmall(f, size), large = reduceLarge(f, size);
  Value isSmall = f.is(CmpFPredicate::OLT, size, largeSize);
  Value rest = f.select(isSmall, small.rest, large.rest);
  rest =
      f.select(f.is(CmpFPredicate::OLT, size, infinity), rest, f.number(NAN));
  Value square = f.mul(rest, rest);
  Value sine = f.polynomial(square, /*count=*/5, [](int i) {
    return (i % 2 == 0 ? -1 : 1) / factorial(2 * i + 3);
  });
  sine = f.fma(f.mul(rest, square), sine, rest);
  Value cosine = f.polynomial(square, /*count=*/6, [](int i) {
    return (i % 2 == 0 ? -1 : 1) / factorial(2 * i + 2);
  });
  cosine = f.fma(square, cosine, f.number(1));
  return {sine, cosine, f.select(isSmall, small.quarters, large.quarters)};
}

/// The wave that starts \p more quarters further on, but for the sign of x.
static Value waveOf(Formula &f, Value x, int64_t more) {
  Waves waves = wavesOf(f, x);
  Value quarters = f.make<arith::AddIOp>(waves.quarters, f.integer(more));
  return waveIn(f, quarters, waves.sine, waves.cosine);
}

/// \p result for |x|, as it is for x.
static Value withSignOf(Formula &f, Value x, Value result) {
  return f.mul(result, f.make<math::CopySignOp>(f.number(1), x));
}

Value ckpt::expandSingleSin(Formula &f, ValueRange operands) {
  return withSignOf(f, operands[0], waveOf(f, operands[0], /*more=*/0));
}

Value ckpt::expandSingleCos(Formula &f, ValueRange operands) {
  return waveOf(f, operands[0], /*more=*/1);
}

Value ckpt::expandSingleTan(Formula &f, ValueRange operands) {
  Waves waves = wavesOf(f, operands[0]);
  return withSignOf(f, operands[0],
                    tangentIn(f, waves.quarters, waves.sine, waves.cosine));
}
