//===- PreparePass.cpp - The pass --ckpt-prepare --------------------------===//
//
// The order of the steps (PrepareSteps.h), as `prepareStep` for the planning
// passes and as a pass of its own.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/OpenLoops.h"
#include "Transforms/Prepare/PrepareSteps.h"
#include "ckpt/Analysis/OpaqueBuffers.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Transforms/Prepare.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ckpt {
#define GEN_PASS_DEF_PREPAREPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

std::string PreparationSummary::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto add = [&](int64_t count, StringRef one, StringRef many) {
    if (count > 0)
      os << (text.empty() ? "prepared: " : ", ") << count << " "
         << (count == 1 ? one : many);
  };
  add(calls, "call inlined", "calls inlined");
  add(globals, "global read as a constant", "globals read as constants");
  add(composites, "composite op taken apart", "composite ops taken apart");
  add(loops, "loop unrolled", "loops unrolled");
  add(branches, "conditional flattened", "conditionals flattened");
  add(stacks, "op on a stack replaced", "ops on stacks replaced");
  add(shapes, "shape made static", "shapes made static");
  add(views, "view simplified", "views simplified");
  add(unread, "op without its unread part", "ops without their unread parts");
  add(unitDims, "op without unit dimensions", "ops without unit dimensions");
  return text;
}

/// Whether a plan refers to the ops of \p step already.
static bool isFollowed(mlir::func::FuncOp step) {
  return step->hasAttr(CkptDialect::planAttrName()) ||
         step.walk([](Operation *op) {
               return isa<KernelOp, BarrierOp>(op)
                          ? mlir::WalkResult::interrupt()
                          : mlir::WalkResult::advance();
             })
             .wasInterrupted();
}

FailureOr<PreparationSummary> ckpt::prepareStep(mlir::func::FuncOp step,
                                                const PrepareOptions &options) {
  PreparationSummary summary;
  if (step.isDeclaration() || isFollowed(step))
    return summary;
  if (failed(inlineCalls(step, summary)) || failed(readGlobals(step, summary)))
    return failure();
  makeShapesStatic(step, summary);
  rewriteConstants(step);
  takeCompositesApart(step, summary);
  openLoops(step, options.unrollLimit, summary);
  // The sizes may depend on counters of loops.
  makeShapesStatic(step, summary);
  readByMaps(step, summary);
  simplifyViews(step, summary);
  dropUnread(step, summary);
  indexUnitDims(step, summary);
  return summary;
}

void ckpt::registerPreparedDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::complex::ComplexDialect,
                  mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
  mlir::linalg::registerTilingInterfaceExternalModels(registry);
  registerBufferDialects(registry);
}

namespace {
struct PreparePass : impl::PreparePassBase<PreparePass> {
  using PreparePassBase::PreparePassBase;

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PreparePassBase::getDependentDialects(registry);
    registerPreparedDialects(registry);
  }

  void runOnOperation() override {
    FailureOr<mlir::func::FuncOp> step = findStep(getOperation(), function);
    if (failed(step))
      return signalPassFailure();
    FailureOr<PreparationSummary> summary = prepareStep(*step, {unrollLimit});
    if (failed(summary))
      return signalPassFailure();
    if (std::string text = summary->text(); !text.empty())
      mlir::emitRemark(step->getLoc()) << text;
  }
};
} // namespace
