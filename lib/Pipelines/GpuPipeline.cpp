//===- GpuPipeline.cpp - From planned kernels to NVVM and launches --------===//

#include "ckpt/Pipelines/GpuPipeline.h"
#include "ExpandArithmetic.h"
#include "ckpt/Conversion/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

/// Functions of kernels to launches of device code, all on memrefs.
static void emitLaunches(OpPassManager &manager) {
  ckpt::KernelsToCallsOptions calls;
  calls.ownConstants = true;
  manager.addPass(ckpt::createKernelsToCalls(calls));
  manager.addPass(ckpt::createEmitGpuKernels());
  manager.addPass(ckpt::createCheckKernelMemory());
}

/// Device code to NVVM.
static void lowerDevice(OpPassManager &manager) {
  OpPassManager &device = manager.nest<gpu::GPUModuleOp>();
  device.addPass(createConvertLinalgToLoopsPass());
  device.addPass(createCSEPass());
  device.addPass(createCanonicalizerPass());
  ckpt::expandArithmetic(device);
  device.addPass(createCSEPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(ckpt::createMathToIntrinsics());
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.useBarePtrCallConv = true;
  device.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  device.addPass(createCSEPass());
  device.addPass(createReconcileUnrealizedCastsPass());
}

static void makeBinary(OpPassManager &manager,
                       const ckpt::GpuPipelineOptions &options) {
  ckpt::SetGpuTargetOptions target;
  target.chip = options.chip;
  manager.addPass(ckpt::createSetGpuTarget(target));
  GpuModuleToBinaryPassOptions binary;
  binary.toolkitPath = options.toolkit;
  binary.compilationTarget = options.format;
  manager.addPass(createGpuModuleToBinaryPass(binary));
}

static void lowerHost(OpPassManager &manager) {
  manager.addPass(createSymbolDCEPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  GpuToLLVMConversionPassOptions launches;
  launches.hostBarePtrCallConv = true;
  launches.kernelBarePtrCallConv = true;
  manager.addPass(createGpuToLLVMConversionPass(launches));
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void ckpt::buildGpuPipeline(OpPassManager &manager,
                            const GpuPipelineOptions &options) {
  emitLaunches(manager);
  lowerDevice(manager);
  makeBinary(manager, options);
  lowerHost(manager);
}

void ckpt::registerGpuPipeline() {
  PassPipelineRegistration<GpuPipelineOptions>(
      "ckpt-lower-to-nvvm-pipeline",
      "lower functions of kernels to launches and code of a GPU",
      [](OpPassManager &manager, const GpuPipelineOptions &options) {
        buildGpuPipeline(manager, options);
      });
}
