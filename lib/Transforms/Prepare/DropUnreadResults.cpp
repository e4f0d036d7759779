//===- DropUnreadResults.cpp - Results that nothing reads -----------------===//
//
// PyTorch finds every maximum together with its place, and reads the place
// seldom. Without it the reduction has one combiner, whose partial results lie
// in the lanes of vectors.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
namespace linalg = mlir::linalg;

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

void ckpt::dropUnreadResults(mlir::func::FuncOp step,
                             PreparationSummary &summary) {
  SmallVector<Operation *> cut;
  step.walk([&](linalg::GenericOp op) {
    if (cutUnreadResults(op))
      cut.push_back(op);
  });
  summary.unreadResults += cut.size();
  mlir::RewritePatternSet patterns(step.getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  auto config = mlir::GreedyRewriteConfig().enableFolding(false).setStrictness(
      mlir::GreedyRewriteStrictness::ExistingAndNewOps);
  (void)mlir::applyOpPatternsGreedily(cut, std::move(patterns), config);
}
