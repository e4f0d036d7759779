//===- VerifyPasses.cpp - The passes --ckpt-verify and --ckpt-verify-slots ===//
//
// Run last, on the kernels of a plan or on the output of other passes.
// lib/Verify has the checks; the passes read the original and bring it into the
// planner's form.
//
//===----------------------------------------------------------------------===//

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Support/ReadModule.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Transforms/Prepare.h"
#include "ckpt/Verify/Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {
#define GEN_PASS_DEF_VERIFYPASS
#define GEN_PASS_DEF_VERIFYSLOTSPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

namespace {
struct VerifySlotsPass : impl::VerifySlotsPassBase<VerifySlotsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      if (failed(verifySlots(function)))
        return signalPassFailure();
  }
};
} // namespace

/// Brings the functions of \p original that were rewritten into the form that
/// the planner saw. The others are compared as they are.
static LogicalResult prepareRewritten(ModuleOp rewritten, ModuleOp original,
                                      const PrepareOptions &options) {
  for (auto function : rewritten.getOps<mlir::func::FuncOp>()) {
    auto from = original.lookupSymbol<mlir::func::FuncOp>(function.getName());
    if (from && !isSameFunction(function, from) &&
        failed(prepareStep(from, options)))
      return failure();
  }
  return success();
}

namespace {
struct VerifyPass : impl::VerifyPassBase<VerifyPass> {
  using VerifyPassBase::VerifyPassBase;

  /// The original may use dialects that the rewritten file does not, and
  /// dialects cannot be loaded while passes run.
  LogicalResult initialize(MLIRContext *context) override {
    context->loadAllAvailableDialects();
    return success();
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (original.empty()) {
      mlir::emitError(getOperation().getLoc())
          << "expected 'original', the file before the rewrite";
      return signalPassFailure();
    }
    llvm::SourceMgr sources;
    mlir::OwningOpRef<ModuleOp> from =
        readModule(original, sources, getContext());
    if (!from ||
        (prepare &&
         failed(prepareRewritten(getOperation(), *from, {unrollLimit}))) ||
        failed(verifyRewrite(getOperation(), *from)))
      signalPassFailure();
  }
};
} // namespace
