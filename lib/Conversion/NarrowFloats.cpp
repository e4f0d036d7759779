//===- NarrowFloats.cpp - 8-bit floats as integers ------------------------===//
//
// LLVM has no 8-bit floats: they lie in registers as i8. Conversions are done
// on the bits of an f32, and round to nearest, ties to even. Beyond the largest
// finite number stands NaN (f8E4M3FN, which has no infinity) or infinity
// (f8E5M2).
//
//===----------------------------------------------------------------------===//

#include "NarrowFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;

namespace {

/// The layout of a type of 8 bits: a sign, an exponent, a mantissa.
struct Layout {
  int mantissaBits, bias;
  /// The bits of the first number that is not finite, of any NaN, and of an
  /// overflow; without the sign.
  int64_t firstNonFinite, nan, overflow;
};

std::optional<Layout> layoutOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Layout{3, 7, 0x7F, 0x7F, 0x7F};
  if (isa<Float8E5M2Type>(type))
    return Layout{2, 15, 0x7C, 0x7E, 0x7C};
  return std::nullopt;
}

/// Arithmetic on scalars and vectors alike.
class Bits {
public:
  Bits(PatternRewriter &rewriter, Location loc, Type like)
      : builder(loc, rewriter), like(like) {}

  Type of(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value integer(int64_t value, unsigned width = 32) {
    return constant(
        builder.getIntegerAttr(builder.getIntegerType(width), value));
  }
  Value number(double value) {
    return constant(builder.getF32FloatAttr(value));
  }
  template <typename OpTy>
  Value make(Value left, Value right) {
    return OpTy::create(builder, left, right);
  }
  Value as(Type element, Value value) {
    return arith::BitcastOp::create(builder, of(element), value);
  }
  Value isLess(Value left, Value right) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, left,
                                 right);
  }
  Value choose(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, condition, yes, no);
  }

  ImplicitLocOpBuilder builder;

private:
  Value constant(TypedAttr value) {
    if (auto vector = dyn_cast<ShapedType>(of(value.getType())))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, value);
  }

  Type like;
};

struct ExpandTrunc : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Layout> layout = layoutOf(getElementTypeOrSelf(op.getType()));
    Type source = getElementTypeOrSelf(op.getIn().getType());
    if (!layout || source.getIntOrFloatBitWidth() > 32)
      return failure();
    Bits bits(rewriter, op.getLoc(), op.getType());
    Type i32 = rewriter.getI32Type(), f32 = rewriter.getF32Type();
    Value in = op.getIn();
    if (!source.isF32())
      in = arith::ExtFOp::create(bits.builder, bits.of(f32), in);
    Value all = bits.as(i32, in);
    Value sign = bits.make<arith::AndIOp>(
        bits.make<arith::ShRUIOp>(all, bits.integer(24)), bits.integer(0x80));
    Value size = bits.make<arith::AndIOp>(all, bits.integer(0x7FFFFFFF));
    int shift = 23 - layout->mantissaBits;
    // Half a unit, less one bit where the last bit that stays is even.
    Value isOdd = bits.make<arith::AndIOp>(
        bits.make<arith::ShRUIOp>(size, bits.integer(shift)), bits.integer(1));
    Value rounded = bits.make<arith::AddIOp>(
        bits.make<arith::AddIOp>(size, bits.integer((1 << (shift - 1)) - 1)),
        isOdd);
    Value normal = bits.make<arith::SubIOp>(
        bits.make<arith::ShRUIOp>(rounded, bits.integer(shift)),
        bits.integer(int64_t(127 - layout->bias) << layout->mantissaBits));
    // Below the smallest normal number, an addition rounds to its units.
    int unit = 1 - layout->bias - layout->mantissaBits;
    double magic = std::ldexp(1.0, unit + 23);
    Value sum =
        bits.make<arith::AddFOp>(bits.as(f32, size), bits.number(magic));
    Value subnormal = bits.make<arith::SubIOp>(
        bits.as(i32, sum), bits.as(i32, bits.number(magic)));
    Value smallest = bits.integer(int64_t(128 - layout->bias) << 23);
    Value result = bits.choose(bits.isLess(size, smallest), subnormal, normal);
    result =
        bits.choose(bits.isLess(result, bits.integer(layout->firstNonFinite)),
                    result, bits.integer(layout->overflow));
    // Far beyond, the exponent does not fit into 8 bits either.
    Value tooLarge = bits.integer(int64_t(127 + layout->bias + 2) << 23);
    result = bits.choose(bits.isLess(size, tooLarge), result,
                         bits.integer(layout->overflow));
    Value infinity = bits.integer(0x7F800000);
    result = bits.choose(bits.isLess(infinity, size), bits.integer(layout->nan),
                         result);
    Value byte =
        arith::TruncIOp::create(bits.builder, bits.of(rewriter.getI8Type()),
                                bits.make<arith::OrIOp>(result, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), byte);
    return success();
  }
};

struct ExpandExt : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Layout> layout =
        layoutOf(getElementTypeOrSelf(op.getIn().getType()));
    if (!layout)
      return failure();
    Bits bits(rewriter, op.getLoc(), op.getType());
    Type i32 = rewriter.getI32Type(), f32 = rewriter.getF32Type();
    Value all = arith::ExtUIOp::create(
        bits.builder, bits.of(i32), bits.as(rewriter.getI8Type(), op.getIn()));
    Value sign = bits.make<arith::ShLIOp>(
        bits.make<arith::AndIOp>(all, bits.integer(0x80)), bits.integer(24));
    Value size = bits.make<arith::AndIOp>(all, bits.integer(0x7F));
    // The bits in their places, with the exponent put right by a factor.
    Value small =
        bits.as(f32, bits.make<arith::ShLIOp>(
                         size, bits.integer(23 - layout->mantissaBits)));
    Value scaled = bits.make<arith::MulFOp>(
        small, bits.number(std::ldexp(1.0, 127 - layout->bias)));
    Value finite = bits.as(i32, scaled);
    Value infinity = bits.integer(0x7F800000), nan = bits.integer(0x7FC00000);
    Value special = nan;
    if (layout->overflow != layout->nan)
      special = bits.choose(bits.isLess(bits.integer(layout->overflow), size),
                            nan, infinity);
    Value result =
        bits.choose(bits.isLess(size, bits.integer(layout->firstNonFinite)),
                    finite, special);
    Value number = bits.as(f32, bits.make<arith::OrIOp>(result, sign));
    Type wanted = getElementTypeOrSelf(op.getType());
    if (wanted.getIntOrFloatBitWidth() > 32)
      number = arith::ExtFOp::create(bits.builder, op.getType(), number);
    else if (!wanted.isF32())
      number = arith::TruncFOp::create(bits.builder, op.getType(), number);
    rewriter.replaceOp(op, number);
    return success();
  }
};

} // namespace

void ckpt::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandTrunc, ExpandExt>(patterns.getContext());
}
