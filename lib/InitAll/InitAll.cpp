//===- InitAll.cpp - Registers everything of ckpt and upstream ------------===//

#include "ckpt/InitAll.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Pipelines/CpuPipeline.h"
#include "ckpt/Pipelines/GpuPipeline.h"
#include "ckpt/Transforms/Passes.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void ckpt::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<CkptDialect>();
  registerExternalModels(registry);
}

void ckpt::registerPasses() {
  registerCkptTransformsPasses();
  registerCkptConversionPasses();
  registerCpuPipeline();
  registerGpuPipeline();
}

/// The barriers of other compilers, which --ckpt-kernels-to-barriers writes.
/// Nothing else of their dialects is known.
static void registerForeignBarriers(mlir::DialectRegistry &registry) {
  auto addBarrier = [](mlir::MLIRContext *, mlir::DynamicDialect *dialect) {
    auto check = [](mlir::Operation *op) {
      return mlir::success(op->getOperandTypes() == op->getResultTypes());
    };
    auto checkRegions = [](mlir::Operation *) { return mlir::success(); };
    dialect->registerDynamicOp(mlir::DynamicOpDefinition::get(
        "optimization_barrier", dialect, std::move(check),
        std::move(checkRegions)));
  };
  registry.insertDynamic("stablehlo", addBarrier);
  registry.insertDynamic("util", addBarrier);
  registry.addExtension(+[](mlir::MLIRContext *context, ckpt::CkptDialect *) {
    context->getOrLoadDialect("stablehlo");
    context->getOrLoadDialect("util");
  });
}

void ckpt::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registerDialects(registry);
  registerForeignBarriers(registry);
}

void ckpt::registerAllPasses() {
  mlir::registerAllPasses();
  registerPasses();
}
