//===- RewriteExactly.cpp - Patterns without upstream's folders -----------===//

#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace ckpt;

LogicalResult ckpt::rewriteExactly(Operation *root,
                                   mlir::RewritePatternSet patterns) {
  mlir::GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  return mlir::applyPatternsGreedily(root, std::move(patterns), config);
}
