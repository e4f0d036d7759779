//===- DoublePatterns.cpp - Functions to arithmetic in f64 ----------------===//
//
// A function in f64 is expanded in f64. A function in f32 for which upstream
// has no polynomial that is right to a few units is computed in f64 and
// rounded.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/DoublePatterns.h"
#include "Conversion/Math/DoubleFormula.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace ckpt;
using namespace mlir;

namespace {
template <typename Op, Expansion expand>
struct ExpandDouble : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    Formula formula(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, expand(formula, op->getOperands()));
    return success();
  }
};

/// Computes an f32 op in f64: by \p expand, or by the op itself.
template <typename Op, Expansion *expand = nullptr>
struct WidenToDouble : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), wide = rewriter.getF64Type();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    if (auto vector = dyn_cast<VectorType>(type))
      wide = vector.clone(wide);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          arith::ExtFOp::create(rewriter, op.getLoc(), wide, operand));
    Value result;
    if constexpr (expand != nullptr) {
      Formula formula(rewriter, op.getLoc(), wide);
      result = expand(formula, operands);
    } else {
      result = Op::create(rewriter, op.getLoc(), wide, operands);
    }
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, result);
    return success();
  }
};

/// Squares are the most frequent powers, and exact as products.
struct ExpandSquare : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat exponent(0.0);
    if (!matchPattern(op.getRhs(), m_ConstantFloat(&exponent)) ||
        !exponent.isExactlyValue(2.0))
      return failure();
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), op.getLhs());
    return success();
  }
};
} // namespace

template <typename Op, Expansion expand>
static void addBoth(RewritePatternSet &patterns) {
  patterns.add<ExpandDouble<Op, expand>, WidenToDouble<Op>>(
      patterns.getContext());
}

void ckpt::populateDoubleFunctionPatterns(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  // In f32, upstream's polynomials are right to a few units.
  patterns.add<ExpandDouble<math::ErfOp, expandErf>,
               ExpandDouble<math::ExpOp, expandExp>,
               ExpandDouble<math::ExpM1Op, expandExpM1>,
               ExpandDouble<math::LogOp, expandLog>,
               ExpandDouble<math::Log1pOp, expandLog1p>,
               ExpandDouble<math::Log2Op, expandLog2>,
               ExpandDouble<math::TanhOp, expandTanh>>(context);
  // In f32, fewer digits are enough.
  patterns.add<ExpandDouble<math::CosOp, expandCos>,
               ExpandDouble<math::SinOp, expandSin>,
               ExpandDouble<math::TanOp, expandTan>,
               WidenToDouble<math::CosOp, expandSingleCos>,
               WidenToDouble<math::SinOp, expandSingleSin>,
               WidenToDouble<math::TanOp, expandSingleTan>>(context);
  addBoth<math::AcosOp, expandAcos>(patterns);
  addBoth<math::AcoshOp, expandAcosh>(patterns);
  addBoth<math::AsinOp, expandAsin>(patterns);
  addBoth<math::AsinhOp, expandAsinh>(patterns);
  addBoth<math::AtanOp, expandAtan>(patterns);
  addBoth<math::Atan2Op, expandAtan2>(patterns);
  addBoth<math::AtanhOp, expandAtanh>(patterns);
  addBoth<math::CbrtOp, expandCbrt>(patterns);
  addBoth<math::CoshOp, expandCosh>(patterns);
  addBoth<math::ErfcOp, expandErfc>(patterns);
  addBoth<math::Exp2Op, expandExp2>(patterns);
  addBoth<math::Log10Op, expandLog10>(patterns);
  addBoth<math::PowFOp, expandPow>(patterns);
  addBoth<math::SinhOp, expandSinh>(patterns);
  patterns.add<ExpandSquare>(context, /*benefit=*/2);
}
