//===- ApplyPlanPass.cpp - The pass --ckpt-apply-plan ---------------------===//
//
// Builds the problem again, reads the plan from the attributes that `--ckpt-
// plan` wrote, and has KernelBuilder.h rewrite the function.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Apply/KernelBuilder.h"
#include "ckpt/Analysis/OpaqueBuffers.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Transforms/PlanStep.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {
#define GEN_PASS_DEF_APPLYPLANPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

namespace {
struct ApplyPlanPass : impl::ApplyPlanPassBase<ApplyPlanPass> {
  using ApplyPlanPassBase::ApplyPlanPassBase;

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    ApplyPlanPassBase::getDependentDialects(registry);
    registerBufferDialects(registry);
  }

  void runOnOperation() override {
    auto functions =
        llvm::to_vector(getOperation().getOps<mlir::func::FuncOp>());
    for (mlir::func::FuncOp function : functions)
      if (!function.isExternal() && isPlanned(function) &&
          failed(apply(function)))
        return signalPassFailure();
  }

  LogicalResult apply(mlir::func::FuncOp function) {
    FailureOr<ProgramProblem> program = buildProblem(function, device);
    if (failed(program))
      return failure();
    FailureOr<LayerChain> chain = collectLayers(*program);
    if (failed(chain))
      return failure();
    if (isForwardChain(*chain)) {
      mlir::emitRemark(function.getLoc())
          << "'" << function.getSymName()
          << "' is a forward chain of layers: it is left as it is, with its "
             "decisions, for the differentiation that comes after";
      return success();
    }
    FailureOr<plan::Solution> solution = readPlan(*program);
    if (failed(solution))
      return failure();
    buildKernels(*program, solution->plan, solution->verdict);
    return success();
  }
};
} // namespace
