//===- PlanPipeline.cpp - From a tensor program to a planned one ----------===//

#include "ckpt/Pipelines/PlanPipeline.h"
#include "ckpt/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace ckpt;

LogicalResult ckpt::planModule(ModuleOp module, StringRef planOptions,
                               bool formLayers,
                               plan::report::StepReport &report,
                               const plan::SolverOptions &solver) {
  std::unique_ptr<mlir::Pass> plan = createPlanPass(report, solver);
  auto refuse = [&](const Twine &message) -> LogicalResult {
    return mlir::emitError(module.getLoc()) << StringRef(message.str()).rtrim();
  };
  if (failed(
          plan->initializeOptions(("quiet=true " + planOptions).str(), refuse)))
    return failure();
  mlir::PassManager manager(module.getContext());
  if (formLayers)
    manager.addNestedPass<mlir::func::FuncOp>(createFormLayersPass());
  manager.addPass(std::move(plan));
  return manager.run(module);
}

LogicalResult ckpt::rewriteModule(ModuleOp module) {
  mlir::PassManager manager(module.getContext());
  manager.addPass(createApplyPlanPass());
  return manager.run(module);
}
