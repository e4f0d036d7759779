//===- ExpandComposites.cpp - Functions that others make up ---------------===//
//
// Before narrow types are computed in wider ones: whether a number is normal is
// a question about its own type.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace ckpt {
#define GEN_PASS_DEF_EXPANDCOMPOSITES
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

//===----------------------------------------------------------------------===//
// Kinds of floating-point numbers
//===----------------------------------------------------------------------===//

static Value integerConstant(OpBuilder &builder, Location loc, Type type,
                             int64_t value) {
  APInt bits(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), value,
             /*isSigned=*/true);
  return createScalarOrSplatConstant(builder, loc, type, bits);
}

static const llvm::fltSemantics &semanticsOf(Type type) {
  return cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
}

namespace {
/// A comparison of \p x, or of its size, instead of a question about its kind.
struct ExpandIsNaN : OpRewritePattern<math::IsNaNOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IsNaNOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(
        op, arith::CmpFPredicate::UNO, op.getOperand(), op.getOperand());
    return success();
  }
};

template <typename Op, arith::CmpFPredicate predicate>
struct ExpandIsInfinite : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    Value size = math::AbsFOp::create(rewriter, op.getLoc(), x);
    const llvm::fltSemantics &semantics = semanticsOf(x.getType());
    // Without an infinity, no number is beyond the largest.
    bool hasInfinity = APFloat::semanticsHasInf(semantics);
    APFloat bound = hasInfinity ? APFloat::getInf(semantics)
                                : APFloat::getLargest(semantics);
    arith::CmpFPredicate wanted = hasInfinity ? predicate
                                  : predicate == arith::CmpFPredicate::OEQ
                                      ? arith::CmpFPredicate::OGT
                                      : arith::CmpFPredicate::ORD;
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(
        op, wanted, size,
        createScalarOrSplatConstant(rewriter, op.getLoc(), x.getType(), bound));
    return success();
  }
};

struct ExpandIsNormal : OpRewritePattern<math::IsNormalOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IsNormalOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    Location loc = op.getLoc();
    Value size = math::AbsFOp::create(rewriter, loc, x);
    const llvm::fltSemantics &semantics = semanticsOf(x.getType());
    auto compare = [&](arith::CmpFPredicate predicate, const APFloat &bound) {
      return arith::CmpFOp::create(
          rewriter, loc, predicate, size,
          createScalarOrSplatConstant(rewriter, loc, x.getType(), bound));
    };
    Value isLarge = compare(arith::CmpFPredicate::OGE,
                            APFloat::getSmallestNormalized(semantics));
    Value isFinite =
        compare(arith::CmpFPredicate::OLE, APFloat::getLargest(semantics));
    rewriter.replaceOpWithNewOp<arith::AndIOp>(op, isLarge, isFinite);
    return success();
  }
};

/// At least the lower bound, then at most the upper one. Upstream's expansion
/// compares the other way round.
struct ExpandClampF : OpRewritePattern<math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value atLeast = arith::MaximumFOp::create(rewriter, op.getLoc(),
                                              op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, atLeast, op.getMax());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Whole powers
//===----------------------------------------------------------------------===//

/// powf of the size; odd powers have the sign of the base. Exponents that f64
/// rounds keep whether they are odd.
struct ExpandFPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType(), wide = rewriter.getF64Type();
    Value base = op.getLhs(), exponent = op.getRhs();
    if (auto shaped = dyn_cast<ShapedType>(type))
      wide = shaped.clone(wide);
    if (type != wide)
      base = arith::ExtFOp::create(rewriter, loc, wide, base);
    Value size = math::AbsFOp::create(rewriter, loc, base);
    Value power = math::PowFOp::create(
        rewriter, loc, size,
        arith::SIToFPOp::create(rewriter, loc, wide, exponent));
    auto whole = exponent.getType();
    Value lowBit = arith::AndIOp::create(
        rewriter, loc, exponent, integerConstant(rewriter, loc, whole, 1));
    Value isOdd =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, lowBit,
                              integerConstant(rewriter, loc, whole, 0));
    Value result = arith::SelectOp::create(
        rewriter, loc, isOdd,
        math::CopySignOp::create(rewriter, loc, power, base), power);
    if (type != wide)
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// By squaring, one bit of the exponent after the other. Only 1 and -1 have
/// whole negative powers; the others are 0.
struct ExpandIPowI : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = op.getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Value base = op.getLhs(), exponent = op.getRhs();
    auto number = [&](int64_t value) {
      return integerConstant(rewriter, loc, type, value);
    };
    auto compare = [&](arith::CmpIPredicate predicate, Value a, int64_t b) {
      return arith::CmpIOp::create(rewriter, loc, predicate, a, number(b));
    };
    Value zero = number(0), one = number(1);
    Value result = one, square = base;
    for (unsigned bit = 0; bit < width; ++bit) {
      Value isSet = arith::AndIOp::create(
          rewriter, loc,
          arith::ShRUIOp::create(rewriter, loc, exponent, number(bit)), one);
      Value factor = arith::SelectOp::create(
          rewriter, loc, compare(arith::CmpIPredicate::ne, isSet, 0), square,
          one);
      result = arith::MulIOp::create(rewriter, loc, result, factor);
      square = arith::MulIOp::create(rewriter, loc, square, square);
    }
    // The powers of 1 and -1 are right for the exponent's bits as they are.
    Value isUnit = arith::OrIOp::create(
        rewriter, loc, compare(arith::CmpIPredicate::eq, base, 1),
        compare(arith::CmpIPredicate::eq, base, -1));
    Value isWhole = arith::OrIOp::create(
        rewriter, loc, isUnit, compare(arith::CmpIPredicate::sge, exponent, 0));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isWhole, result, zero);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Sums of products in narrow types
//===----------------------------------------------------------------------===//

/// By way of f64, which holds each product. Where it cannot hold the sum, the
/// last bit says so to the rounding that follows.
struct ExpandNarrowFma : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), wide = rewriter.getF64Type();
    Type whole = rewriter.getI64Type();
    if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() > 16)
      return failure();
    if (auto shaped = dyn_cast<ShapedType>(type)) {
      wide = shaped.clone(wide);
      whole = shaped.clone(whole);
    }
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    auto widen = [&](Value x) {
      return arith::ExtFOp::create(builder, wide, x).getResult();
    };
    auto subtract = [&](Value a, Value b) {
      return arith::SubFOp::create(builder, a, b).getResult();
    };
    auto bitsOf = [&](Value x) {
      return arith::BitcastOp::create(builder, whole, x).getResult();
    };
    auto number = [&](int64_t value) {
      return integerConstant(builder, op.getLoc(), whole, value);
    };
    Value product =
        arith::MulFOp::create(builder, widen(op.getA()), widen(op.getB()));
    Value summand = widen(op.getC());
    Value sum = arith::AddFOp::create(builder, product, summand);
    // The part that was rounded away, exactly.
    Value added = subtract(sum, product);
    Value rest =
        arith::AddFOp::create(builder, subtract(product, subtract(sum, added)),
                              subtract(summand, added));
    Value zero = createScalarOrSplatConstant(
        builder, op.getLoc(), wide, APFloat::getZero(APFloat::IEEEdouble()));
    Value isCut =
        arith::CmpFOp::create(builder, arith::CmpFPredicate::ONE, rest, zero);
    // Of two signs: the sum is beyond the exact one.
    Value bits = bitsOf(sum);
    Value isBeyond = arith::CmpIOp::create(
        builder, arith::CmpIPredicate::slt,
        arith::XOrIOp::create(builder, bits, bitsOf(rest)), number(0));
    Value toZero = arith::SelectOp::create(
        builder, isBeyond, arith::SubIOp::create(builder, bits, number(1)),
        bits);
    Value odd = arith::OrIOp::create(builder, toZero, number(1));
    Value exact = arith::BitcastOp::create(
        builder, wide, arith::SelectOp::create(builder, isCut, odd, bits));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, exact);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Whole numbers as narrow floats
//===----------------------------------------------------------------------===//

/// By way of f64. Numbers that it cannot hold lose low bits first; one that is
/// set instead says so to the rounding that follows.
template <typename Op>
struct WidenFromInteger : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value whole = op.getIn();
    Type type = op.getType(), wide = rewriter.getF64Type();
    // f32 holds narrower numbers.
    constexpr unsigned narrow = 24, bitsCut = 11;
    unsigned width =
        getElementTypeOrSelf(whole.getType()).getIntOrFloatBitWidth();
    if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() >= 32 ||
        width <= narrow || width > 64)
      return failure();
    if (auto shaped = dyn_cast<ShapedType>(type))
      wide = shaped.clone(wide);
    if (width > 64 - bitsCut) {
      auto number = [&](int64_t value) {
        return integerConstant(rewriter, loc, whole.getType(), value);
      };
      constexpr int64_t mask = (1 << bitsCut) - 1;
      Value low = arith::AndIOp::create(rewriter, loc, whole, number(mask));
      Value isCut = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::ne, low, number(0));
      Value sticky = arith::SelectOp::create(rewriter, loc, isCut,
                                             number(mask + 1), number(0));
      Value kept = arith::OrIOp::create(
          rewriter, loc,
          arith::AndIOp::create(rewriter, loc, whole, number(~mask)), sticky);
      // Numbers that f64 holds stay as they are.
      Value size = whole;
      if constexpr (std::is_same_v<Op, arith::SIToFPOp>)
        size = math::AbsIOp::create(rewriter, loc, whole);
      Value above = arith::ShRUIOp::create(rewriter, loc, size,
                                           number(width - bitsCut - 1));
      Value isSmall = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::eq, above, number(0));
      whole = arith::SelectOp::create(rewriter, loc, isSmall, whole, kept);
    }
    Value result = Op::create(rewriter, loc, wide, whole);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, result);
    return success();
  }
};

struct ExpandComposites
    : public ckpt::impl::ExpandCompositesBase<ExpandComposites> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandClampF, ExpandIsNaN, ExpandIsNormal,
                 ExpandIsInfinite<math::IsInfOp, arith::CmpFPredicate::OEQ>,
                 ExpandIsInfinite<math::IsFiniteOp, arith::CmpFPredicate::OLT>,
                 ExpandFPowI, ExpandIPowI, ExpandNarrowFma,
                 WidenFromInteger<arith::SIToFPOp>,
                 WidenFromInteger<arith::UIToFPOp>>(&getContext());
    if (failed(ckpt::rewriteExactly(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
