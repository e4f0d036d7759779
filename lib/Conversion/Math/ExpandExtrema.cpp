//===- ExpandExtrema.cpp - Maxima and minima of signed zeros --------------===//
//
// Comparisons hold zeros of both signs for equal: a maximum by a comparison
// depends on the order of its operands, and a reduction on the order in which
// its kernel combines them. Here -0 is less than +0, as `arith` has it, so that
// every order gives the same bits.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace ckpt {
#define GEN_PASS_DEF_EXPANDEXTREMA
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

using arith::CmpFPredicate;

namespace {
/// \p outer is OGT with \p BitsOp AND for a maximum, OLT with OR for a minimum.
/// A quiet extremum leaves out a NaN, others are NaN.
template <typename Op, typename BitsOp, CmpFPredicate outer, bool isQuiet>
struct ExpandExtremum : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(op.getType()));
    if (!element || (!element.isF32() && !element.isF64()))
      return failure();
    Location loc = op.getLoc();
    Value left = op.getLhs(), right = op.getRhs();
    APFloat constant(0.0);
    if (matchPattern(left, m_ConstantFloat(&constant)))
      std::swap(left, right);
    const bool isConstant = matchPattern(right, m_ConstantFloat(&constant));
    auto choose = [&](CmpFPredicate predicate, Value first, Value second,
                      Value ifTrue, Value ifFalse) -> Value {
      Value holds =
          arith::CmpFOp::create(rewriter, loc, predicate, first, second);
      return arith::SelectOp::create(rewriter, loc, holds, ifTrue, ifFalse);
    };
    // The right one where any is a NaN, and of two zeros.
    Value result = choose(outer, left, right, left, right);
    const bool isMinimum = outer == CmpFPredicate::OLT;
    if (!isConstant ||
        (constant.isZero() && constant.isNegative() != isMinimum)) {
      Type bits = rewriter.getIntegerType(element.getWidth());
      if (auto shaped = dyn_cast<ShapedType>(op.getType()))
        bits = shaped.clone(bits);
      Value zero = arith::BitcastOp::create(
          rewriter, loc, op.getType(),
          BitsOp::create(rewriter, loc,
                         arith::BitcastOp::create(rewriter, loc, bits, left),
                         arith::BitcastOp::create(rewriter, loc, bits, right)));
      result = choose(CmpFPredicate::OEQ, left, right, zero, result);
    }
    if (!isQuiet)
      result = choose(CmpFPredicate::UNO, left, left, left, result);
    else if (!isConstant || constant.isNaN())
      result = choose(CmpFPredicate::UNO, right, right, left, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandExtrema : ckpt::impl::ExpandExtremaBase<ExpandExtrema> {
  void runOnOperation() override {
    constexpr CmpFPredicate more = CmpFPredicate::OGT;
    constexpr CmpFPredicate less = CmpFPredicate::OLT;
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtremum<arith::MaximumFOp, arith::AndIOp, more, false>,
                 ExpandExtremum<arith::MinimumFOp, arith::OrIOp, less, false>,
                 ExpandExtremum<arith::MaxNumFOp, arith::AndIOp, more, true>,
                 ExpandExtremum<arith::MinNumFOp, arith::OrIOp, less, true>>(
        &getContext());
    if (failed(ckpt::rewriteExactly(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
