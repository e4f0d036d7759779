//===- InitAll.cpp - Registers everything of ckpt and upstream ------------===//

#include "ckpt/InitAll.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Pipelines/CpuPipeline.h"
#include "ckpt/Pipelines/GpuPipeline.h"
#include "ckpt/Transforms/Passes.h"
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

void ckpt::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registerDialects(registry);
}

void ckpt::registerAllPasses() {
  mlir::registerAllPasses();
  registerPasses();
}
