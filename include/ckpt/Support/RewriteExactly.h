//===- RewriteExactly.h - Patterns without upstream's folders ---*- C++ -*-===//
//
// Upstream folds functions of constants with libm, whose bits differ from our
// kernels'. Passes that rewrite arithmetic apply their patterns by this.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_REWRITEEXACTLY_H
#define CKPT_SUPPORT_REWRITEEXACTLY_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/PatternMatch.h"

namespace ckpt {

/// Applies \p patterns in \p root until none matches; folds nothing and merges
/// no constants.
LogicalResult rewriteExactly(Operation *root, mlir::RewritePatternSet patterns);

} // namespace ckpt

#endif // CKPT_SUPPORT_REWRITEEXACTLY_H
