//===- StaticShapes.cpp - Shapes whose sizes are constants ----------------===//
//
// Upstream's patterns bring constant sizes into types, from op to op. Only ops
// of dynamic shapes and the sizes that they take are rewritten.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
namespace tensor = mlir::tensor;
using mlir::RankedTensorType;

static bool isDynamic(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

static bool hasDynamicShape(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isDynamic) ||
         llvm::any_of(op->getResultTypes(), isDynamic);
}

static int64_t countDynamic(mlir::func::FuncOp step) {
  int64_t count = 0;
  step.walk([&](Operation *op) {
    count += llvm::count_if(op->getResultTypes(), isDynamic);
  });
  return count;
}

/// The tensor of static shape that \p value is a cast of, or null.
static Value withoutCast(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  return cast && !isDynamic(cast.getSource().getType()) ? cast.getSource()
                                                        : Value();
}

static RankedTensorType shapedLike(Type shape, Type elements) {
  return cast<RankedTensorType>(shape).clone(
      cast<RankedTensorType>(elements).getElementType());
}

namespace {
/// An elementwise op has the shape of any operand.
struct FoldCastsIntoElementwise : mlir::RewritePattern {
  explicit FoldCastsIntoElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op,
                  mlir::PatternRewriter &rewriter) const override {
    if (!mlir::OpTrait::hasElementwiseMappableTraits(op) ||
        llvm::none_of(op->getResultTypes(), isDynamic))
      return failure();
    auto known = llvm::find_if(op->getOperands(), withoutCast);
    if (known == op->operand_end())
      return failure();
    Type shape = withoutCast(*known).getType();
    mlir::IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isDynamic(operand.getType()))
        mapping.map(operand,
                    tensor::CastOp::create(rewriter, op->getLoc(),
                                           shapedLike(shape, operand.getType()),
                                           operand));
    Operation *rewritten = rewriter.clone(*op, mapping);
    SmallVector<Value> results;
    rewriter.modifyOpInPlace(rewritten, [&] {
      for (Value result : rewritten->getResults())
        result.setType(shapedLike(shape, result.getType()));
    });
    for (auto [result, old] :
         llvm::zip_equal(rewritten->getResults(), op->getResultTypes()))
      results.push_back(
          tensor::CastOp::create(rewriter, op->getLoc(), old, result));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A concatenation has the sum of the sizes of its parts.
struct FoldCastsIntoConcat : mlir::OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult
  matchAndRewrite(tensor::ConcatOp op,
                  mlir::PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    bool gains = isDynamic(op.getType());
    for (Value part : op.getInputs()) {
      Value known = withoutCast(part);
      gains |= bool(known);
      parts.push_back(known ? known : part);
    }
    auto type =
        tensor::ConcatOp::inferResultType(op.getDim(), mlir::TypeRange(parts));
    if (!gains || isDynamic(type))
      return failure();
    Value known = tensor::ConcatOp::create(rewriter, op.getLoc(), type,
                                           op.getDim(), parts);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op.getType(), known);
    return success();
  }
};
} // namespace

static mlir::RewritePatternSet patternsOf(MLIRContext *context) {
  mlir::RewritePatternSet patterns(context);
  for (StringRef name : {"linalg", "scf", "tensor"})
    context->getLoadedDialect(name)->getCanonicalizationPatterns(patterns);
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    if (isa<mlir::linalg::LinalgDialect, mlir::scf::SCFDialect,
            tensor::TensorDialect>(op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  patterns.add<FoldCastsIntoElementwise, FoldCastsIntoConcat>(context);
  return patterns;
}

void ckpt::makeShapesStatic(mlir::func::FuncOp step,
                            PreparationSummary &summary) {
  llvm::SetVector<Operation *> ops;
  step.walk([&](Operation *op) {
    if (hasDynamicShape(op) && !op->hasAttr(CkptDialect::pinAttrName()))
      ops.insert(op);
  });
  if (ops.empty())
    return;
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *maker = operand.getDefiningOp();
          maker && operand.getType().isIndex())
        ops.insert(maker);
  int64_t before = countDynamic(step);
  auto config = mlir::GreedyRewriteConfig().setStrictness(
      mlir::GreedyRewriteStrictness::ExistingAndNewOps);
  (void)mlir::applyOpPatternsGreedily(ops.getArrayRef(),
                                      patternsOf(step.getContext()), config);
  summary.shapes += before - countDynamic(step);
}
