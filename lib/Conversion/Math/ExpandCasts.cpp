//===- ExpandCasts.cpp - Conversions that LLVM calls a library for --------===//
//
// Between floats of 8 bits and f32, by their bits; and between f64 and narrow
// types. Every conversion rounds once, to nearest even. And between indices and
// narrow integers, in two steps.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace ckpt {
#define GEN_PASS_DEF_EXPANDCASTS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// \p element, or a vector of it as \p like is one.
static Type withElement(Type like, Type element) {
  auto shaped = dyn_cast<ShapedType>(like);
  return shaped ? Type(shaped.clone(element)) : element;
}

namespace {
/// Emits arithmetic on scalars or vectors.
class Casts {
public:
  Casts(PatternRewriter &rewriter, Location loc, Type shape)
      : builder(loc, rewriter), shape(shape) {}

  Type of(Type element) { return withElement(shape, element); }
  Type bits() { return of(builder.getI32Type()); }
  Type bytes() { return of(builder.getI8Type()); }
  Type single() { return of(builder.getF32Type()); }

  Value constant(TypedAttr value, Type type) {
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(builder, value);
  }
  Value integer(int64_t value) {
    return constant(builder.getI32IntegerAttr(value), bits());
  }
  Value number(double value) {
    return constant(builder.getF32FloatAttr(value), single());
  }
  template <typename Op, typename... Arguments>
  Value make(Arguments &&...arguments) {
    return Op::create(builder, std::forward<Arguments>(arguments)...);
  }
  Value toBits(Value x) { return make<arith::BitcastOp>(bits(), x); }
  Value fromBits(Value x) { return make<arith::BitcastOp>(single(), x); }
  Value add(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value sub(Value a, Value b) { return make<arith::SubIOp>(a, b); }
  Value both(Value a, int64_t mask) {
    return make<arith::AndIOp>(a, integer(mask));
  }
  Value either(Value a, Value b) { return make<arith::OrIOp>(a, b); }
  Value left(Value a, int64_t by) {
    return make<arith::ShLIOp>(a, integer(by));
  }
  Value right(Value a, int64_t by) {
    return make<arith::ShRUIOp>(a, integer(by));
  }
  Value is(CmpIPredicate predicate, Value a, int64_t b) {
    return make<arith::CmpIOp>(predicate, a, integer(b));
  }
  Value select(Value condition, Value a, Value b) {
    return make<arith::SelectOp>(condition, a, b);
  }

private:
  ImplicitLocOpBuilder builder;
  Type shape;
};

/// A float of 8 bits that has a sign.
struct Small {
  int mantissaBits, bias;
  /// The bits of the largest number, and the bits of infinity and of NaN
  /// without their sign. Without an infinity, numbers too large become NaN.
  int64_t largest, infinity, nan;
  /// The one NaN stands where minus zero would.
  bool hasNoMinusZero;

  static std::optional<Small> of(Type type) {
    auto floating = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    if (!floating || floating.getWidth() != 8)
      return std::nullopt;
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    if (!APFloat::semanticsHasSignedRepr(semantics) ||
        !APFloat::semanticsHasZero(semantics))
      return std::nullopt;
    auto bitsOf = [](const APFloat &value) {
      return static_cast<int64_t>(value.bitcastToAPInt().getZExtValue());
    };
    Small small;
    small.mantissaBits = APFloat::semanticsPrecision(semantics) - 1;
    small.bias = 1 - APFloat::semanticsMinExponent(semantics);
    small.largest = bitsOf(APFloat::getLargest(semantics));
    small.nan = bitsOf(APFloat::getNaN(semantics));
    small.hasNoMinusZero = small.nan == 0x80;
    small.infinity = APFloat::semanticsHasInf(semantics)
                         ? bitsOf(APFloat::getInf(semantics))
                         : small.nan;
    return small;
  }
};

/// The bits of a small float as bits of an f32 that is too small by a power of
/// two; subnormal numbers stay subnormal.
struct ExtendSmall : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Small> small = Small::of(op.getIn().getType());
    if (!small)
      return failure();
    Casts c(rewriter, op.getLoc(), op.getType());
    Value all = c.make<arith::ExtUIOp>(
        c.bits(), c.make<arith::BitcastOp>(c.bytes(), op.getIn()));
    Value size = c.both(all, 0x7f);
    Value result = c.make<arith::MulFOp>(
        c.fromBits(c.left(size, 23 - small->mantissaBits)),
        c.number(std::ldexp(1.0, 127 - small->bias)));
    Value bits = c.toBits(result);
    Value nan = c.integer(0x7fc00000);
    if (small->hasNoMinusZero) {
      bits = c.select(c.is(CmpIPredicate::eq, all, small->nan), nan, bits);
    } else {
      Value isBeyond = c.is(CmpIPredicate::ugt, size, small->largest);
      bits = c.select(isBeyond, nan, bits);
      if (small->infinity != small->nan)
        bits = c.select(c.is(CmpIPredicate::eq, size, small->infinity),
                        c.integer(0x7f800000), bits);
    }
    bits = c.either(bits, c.left(c.both(all, 0x80), 24));
    result = c.fromBits(bits);
    if (result.getType() != op.getType())
      result = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() < 32
                   ? c.make<arith::TruncFOp>(op.getType(), result)
                   : c.make<arith::ExtFOp>(op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct TruncateToSmall : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Small> small = Small::of(op.getType());
    Type from = getElementTypeOrSelf(op.getIn().getType());
    if (!small || from.isF64())
      return failure();
    Casts c(rewriter, op.getLoc(), op.getType());
    Value x = op.getIn();
    if (!from.isF32())
      x = c.make<arith::ExtFOp>(c.single(), x);
    Value all = c.toBits(x);
    Value size = c.both(all, 0x7fffffff);
    int dropped = 23 - small->mantissaBits;
    // Half of the lowest kept bit, less one if that would be even.
    Value isOdd = c.both(c.right(size, dropped), 1);
    Value usual =
        c.add(c.add(size, c.integer((1 << (dropped - 1)) - 1)), isOdd);
    usual = c.sub(c.right(usual, dropped),
                  c.integer((127 - small->bias) << small->mantissaBits));
    // A sum with a number whose last place is that of subnormal numbers.
    double shift = std::ldexp(1.0, 24 - small->bias - small->mantissaBits);
    Value sum = c.make<arith::AddFOp>(c.fromBits(size), c.number(shift));
    Value subnormal = c.sub(c.toBits(sum), c.toBits(c.number(shift)));
    Value isSubnormal =
        c.is(CmpIPredicate::ult, size, int64_t(128 - small->bias) << 23);
    Value result = c.select(isSubnormal, subnormal, usual);
    Value isBeyond = c.is(CmpIPredicate::ugt, result, small->largest);
    result = c.select(isBeyond, c.integer(small->infinity), result);
    Value isNaN = c.is(CmpIPredicate::ugt, size, 0x7f800000);
    result = c.select(isNaN, c.integer(small->nan), result);
    Value sign = c.both(c.right(all, 24), 0x80);
    if (small->hasNoMinusZero)
      sign = c.select(c.is(CmpIPredicate::eq, result, 0), result, sign);
    result = c.make<arith::TruncIOp>(c.bytes(), c.either(result, sign));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), result);
    return success();
  }
};

/// From f64 by way of f32: the last bit there says that something was cut off,
/// so the second conversion rounds as if it saw all bits.
struct TruncateDouble : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(x.getType()).isF64() ||
        getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() >= 32)
      return failure();
    Casts c(rewriter, op.getLoc(), op.getType());
    Value rounded = c.make<arith::TruncFOp>(c.single(), x);
    Value again = c.make<arith::ExtFOp>(x.getType(), rounded);
    Value isInexact = c.make<arith::CmpFOp>(CmpFPredicate::ONE, again, x);
    Value isLarger =
        c.make<arith::CmpFOp>(CmpFPredicate::OGT, c.make<math::AbsFOp>(again),
                              c.make<math::AbsFOp>(x));
    Value bits = c.toBits(rounded);
    Value towardZero = c.select(isLarger, c.sub(bits, c.integer(1)), bits);
    bits = c.select(isInexact, c.either(towardZero, c.integer(1)), bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 c.fromBits(bits));
    return success();
  }
};

/// By way of f32: upstream expands that conversion alone.
struct ExtendBfloatToDouble : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    Casts c(rewriter, op.getLoc(), op.getType());
    Value single = c.make<arith::ExtFOp>(c.single(), op.getIn());
    rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, op.getType(), single);
    return success();
  }
};

/// An integer in f64, then in f32: upstream's canonicalization rounds once. It
/// does not know that signs change nothing here.
struct RoundTwice : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getIn();
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp>(x.getDefiningOp()))
      return failure();
    Casts c(rewriter, op.getLoc(), op.getType());
    Value rounded =
        c.make<arith::TruncFOp>(op.getType(), c.make<arith::NegFOp>(x));
    rewriter.replaceOpWithNewOp<arith::NegFOp>(op, rounded);
    return success();
  }
};

/// By way of i64: upstream's canonicalization takes an index that goes through
/// a narrow integer for the same index.
template <typename Op, typename Extend>
struct CastIndex : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    Type narrow = getElementTypeOrSelf(to).isIndex() ? from : to;
    if (getElementTypeOrSelf(narrow).getIntOrFloatBitWidth() >= 64)
      return failure();
    Casts c(rewriter, op.getLoc(), to);
    Type wide = c.of(rewriter.getI64Type());
    if (narrow == from)
      rewriter.replaceOpWithNewOp<Op>(op, to, c.make<Extend>(wide, op.getIn()));
    else
      rewriter.replaceOpWithNewOp<arith::TruncIOp>(
          op, to, c.make<Op>(wide, op.getIn()));
    return success();
  }
};

struct ExpandCasts : public ckpt::impl::ExpandCastsBase<ExpandCasts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<CastIndex<arith::IndexCastOp, arith::ExtSIOp>,
             CastIndex<arith::IndexCastUIOp, arith::ExtUIOp>, ExtendSmall,
             ExtendBfloatToDouble, RoundTwice, TruncateToSmall, TruncateDouble>(
            &getContext());
    if (failed(ckpt::rewriteExactly(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
