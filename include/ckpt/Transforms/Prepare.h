//===- Prepare.h - Bringing a step into the planner's form ------*- C++ -*-===//
//
// Frontends write calls, loops, composite ops and many kinds of views. The
// planner understands single ops in one block. `--ckpt-prepare` leads from the
// one to the other; `--ckpt-plan`, `--ckpt-print-problem`, `--ckpt-verify` and
// the runner do so by themselves.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TRANSFORMS_PREPARE_H
#define CKPT_TRANSFORMS_PREPARE_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace ckpt {

struct PrepareOptions {
  /// Loops are unrolled as long as their iterations have at most so many ops.
  int64_t unrollLimit = 300000;
};

/// How many of each kind were rewritten.
struct PreparationSummary {
  int64_t calls = 0;
  int64_t globals = 0;
  int64_t composites = 0;
  int64_t loops = 0;
  int64_t branches = 0;
  int64_t stacks = 0;
  int64_t shapes = 0;
  int64_t views = 0;
  int64_t unread = 0;
  int64_t unitDims = 0;

  /// "prepared: 3 calls inlined", or nothing where nothing was done.
  std::string text() const;
};

/// Rewrites \p step, which stands in a module, and removes private functions
/// that only it called. Bits of results stay as they were, except for sums over
/// stacks, which go from piece to piece, and sums beside an unread result or
/// part. A step of kernels or with a plan is left alone, and a prepared one
/// does not change. Reports an error at the op that has no such form.
FailureOr<PreparationSummary> prepareStep(mlir::func::FuncOp step,
                                          const PrepareOptions &options);

/// The dialects of ops that preparation makes, which a pass has to depend on.
void registerPreparedDialects(mlir::DialectRegistry &registry);

} // namespace ckpt

#endif // CKPT_TRANSFORMS_PREPARE_H
