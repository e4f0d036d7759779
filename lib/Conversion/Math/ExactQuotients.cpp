//===- ExactQuotients.cpp - Quotients by powers of two --------------------===//
//
// A quotient by a power of two is the product with its reciprocal, to the bit.
// LLVM knows that of one constant. Gradients of maxima divide by one or two,
// whichever a comparison chooses, and their dividends are zeros mostly: the
// code of a device calls a function for those.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Math/ExactQuotients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

/// The reciprocal of the constant \p divisor, if that is a power of two whose
/// reciprocal is a normal number.
static std::optional<APFloat> exactReciprocal(Value divisor) {
  // The folder of a scalar's broadcast is off, as all are.
  while (auto broadcast = divisor.getDefiningOp<vector::BroadcastOp>())
    divisor = broadcast.getSource();
  APFloat value(0.0), reciprocal(0.0);
  if (!matchPattern(divisor, m_ConstantFloat(&value)) ||
      !value.getExactInverse(&reciprocal))
    return std::nullopt;
  return reciprocal;
}

namespace {
/// \p divisor is chosen of two constants, and widened perhaps.
struct MultiplyByChoice : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    Value divisor = op.getRhs();
    auto extension = divisor.getDefiningOp<arith::ExtFOp>();
    auto choice = (extension ? extension.getIn() : divisor)
                      .getDefiningOp<arith::SelectOp>();
    if (!choice)
      return failure();
    std::optional<APFloat> ifTrue = exactReciprocal(choice.getTrueValue());
    std::optional<APFloat> ifFalse = exactReciprocal(choice.getFalseValue());
    if (!ifTrue || !ifFalse)
      return failure();
    Location loc = op.getLoc();
    auto constant = [&](const APFloat &value) -> Value {
      Type type = choice.getType();
      TypedAttr attribute = FloatAttr::get(getElementTypeOrSelf(type), value);
      if (auto shaped = dyn_cast<ShapedType>(type))
        attribute = DenseElementsAttr::get(shaped, attribute);
      return arith::ConstantOp::create(rewriter, loc, attribute);
    };
    Value reciprocal =
        arith::SelectOp::create(rewriter, loc, choice.getCondition(),
                                constant(*ifTrue), constant(*ifFalse));
    if (extension)
      reciprocal =
          arith::ExtFOp::create(rewriter, loc, op.getType(), reciprocal);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, op.getLhs(), reciprocal);
    return success();
  }
};
} // namespace

void ckpt::populateExactQuotientPatterns(RewritePatternSet &patterns) {
  patterns.add<MultiplyByChoice>(patterns.getContext());
}
