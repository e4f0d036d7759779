//===- DropUnread.cpp - Results and parts of them that nothing reads ------===//
//
// PyTorch finds every maximum together with its place, and reads the place
// seldom. Without it the reduction has one combiner, whose partial results lie
// in the lanes of vectors. The gradient of a filter with strides is written as
// a convolution whose result has rows too many, and a slice of it.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;

/// Whether the running result \p argument leads to yielded values of \p op only
/// whose results nothing reads.
static bool leadsToUnreadOnly(linalg::GenericOp op,
                              mlir::BlockArgument argument) {
  llvm::SetVector<Operation *> readers;
  mlir::getForwardSlice(argument, &readers);
  if (!llvm::all_of(readers, mlir::isMemoryEffectFree))
    return false;
  Operation *yield = op.getBlock()->getTerminator();
  return llvm::all_of(yield->getOpOperands(), [&](mlir::OpOperand &yielded) {
    bool isReached = yielded.get() == argument ||
                     readers.contains(yielded.get().getDefiningOp());
    return !isReached || op->getResult(yielded.getOperandNumber()).use_empty();
  });
}

/// Lets unread results yield what they are given, where nothing else needs
/// their running value, and erases the ops that made them; says whether there
/// are any.
static bool cutUnreadResults(linalg::GenericOp op) {
  if (op->use_empty() || op->hasAttr(CkptDialect::pinAttrName()) ||
      !op.hasPureTensorSemantics())
    return false;
  bool cuts = false;
  for (mlir::OpResult result : op->getResults()) {
    mlir::BlockArgument running = op.getMatchingBlockArgument(
        op.getDpsInitOperand(result.getResultNumber()));
    if (!result.use_empty() || !leadsToUnreadOnly(op, running))
      continue;
    op.getBlock()->getTerminator()->setOperand(result.getResultNumber(),
                                               running);
    cuts = true;
  }
  if (cuts)
    for (Operation &inside :
         llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
      if (mlir::isOpTriviallyDead(&inside))
        inside.erase();
  return cuts;
}

static void dropResults(mlir::func::FuncOp step, PreparationSummary &summary) {
  SmallVector<Operation *> cut;
  step.walk([&](linalg::GenericOp op) {
    if (cutUnreadResults(op))
      cut.push_back(op);
  });
  summary.unread += cut.size();
  mlir::RewritePatternSet patterns(step.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  auto config = mlir::GreedyRewriteConfig().enableFolding(false).setStrictness(
      mlir::GreedyRewriteStrictness::ExistingAndNewOps);
  (void)mlir::applyOpPatternsGreedily(cut, std::move(patterns), config);
}

/// Whether so much of the result is unread that its reduction is worth another
/// shape. The gradient of a loss that leaves out the last token is written over
/// the logits of all tokens.
static bool isWorthNarrowing(mlir::RankedTensorType whole,
                             mlir::RankedTensorType part) {
  return part.getNumElements() <= whole.getNumElements() / 8 * 7;
}

/// The reduction whose result is read as \p slice only; null if there is none.
static linalg::LinalgOp reductionReadAs(tensor::ExtractSliceOp slice) {
  auto op = slice.getSource().getDefiningOp<linalg::LinalgOp>();
  mlir::RankedTensorType whole = slice.getSourceType(), part = slice.getType();
  if (!op || !slice.getSource().hasOneUse() || op->getNumResults() != 1 ||
      op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() || op->hasAttr(CkptDialect::pinAttrName()))
    return nullptr;
  bool isPart = whole.hasStaticShape() && part.hasStaticShape() &&
                part.getRank() == whole.getRank() &&
                part.getNumElements() > 0 && slice.hasUnitStride() &&
                !mlir::ShapedType::isDynamicShape(slice.getStaticOffsets());
  mlir::AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return isPart && isWorthNarrowing(whole, part) && map.isProjectedPermutation()
             ? op
             : nullptr;
}

/// Replaces \p slice where it shows all of its source or one value.
static void simplifySlice(tensor::ExtractSliceOp slice,
                          mlir::IRRewriter &rewriter) {
  if (slice.getType() == slice.getSourceType())
    return rewriter.replaceOp(slice, slice.getSource());
  auto fill = slice.getSource().getDefiningOp<linalg::FillOp>();
  if (!fill)
    return;
  mlir::RankedTensorType type = slice.getType();
  rewriter.setInsertionPoint(slice);
  Value empty = tensor::EmptyOp::create(rewriter, fill.getLoc(),
                                        type.getShape(), type.getElementType());
  rewriter.replaceOpWithNewOp<linalg::FillOp>(slice, fill.getInputs(), empty);
}

/// Lets reductions make the slices that are read of them, by upstream's tiling.
static void dropParts(mlir::func::FuncOp step, PreparationSummary &summary) {
  // A slice of a slice comes after the inner one.
  SmallVector<tensor::ExtractSliceOp> slices;
  step.walk([&](tensor::ExtractSliceOp slice) { slices.push_back(slice); });
  mlir::IRRewriter rewriter(step.getContext());
  for (tensor::ExtractSliceOp slice : slices) {
    linalg::LinalgOp op = reductionReadAs(slice);
    if (!op)
      continue;
    rewriter.setInsertionPoint(op);
    FailureOr<mlir::TilingResult> part =
        tensor::replaceExtractSliceWithTiledProducer(
            rewriter, slice, cast<mlir::OpResult>(slice.getSource()));
    if (failed(part))
      continue;
    rewriter.replaceOp(slice, part->tiledValues);
    rewriter.eraseOp(op);
    for (Operation *operand : part->generatedSlices)
      simplifySlice(cast<tensor::ExtractSliceOp>(operand), rewriter);
    ++summary.unread;
  }
}

void ckpt::dropUnread(mlir::func::FuncOp step, PreparationSummary &summary) {
  dropResults(step, summary);
  dropParts(step, summary);
}
