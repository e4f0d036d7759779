//===- CpuPipeline.cpp - From planned kernels to the LLVM dialect ---------===//

#include "ckpt/Pipelines/CpuPipeline.h"
#include "ExpandArithmetic.h"
#include "ckpt/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/OpenMPToLLVM/ConvertOpenMPToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/SCFToOpenMP/SCFToOpenMP.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void lowerToLLVM(OpPassManager &manager,
                        const ckpt::CpuPipelineOptions &options) {
  if (options.threads)
    manager.addPass(createConvertSCFToOpenMPPass());
  else
    manager.addNestedPass<func::FuncOp>(createParallelForToNestedForsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertComplexToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions functions;
  functions.useBarePtrCallConv = true;
  manager.addPass(createConvertFuncToLLVMPass(functions));
  if (options.threads)
    manager.addPass(createConvertOpenMPToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(ckpt::createBfloatsToIntegers());
}

void ckpt::buildCpuPipeline(OpPassManager &manager,
                            const CpuPipelineOptions &options) {
  manager.addPass(createKernelsToCalls());
  EmitKernelsOptions emit;
  emit.lanes = options.lanes;
  emit.threads = options.threads;
  manager.addPass(createEmitKernels(emit));
  manager.addPass(createCheckKernelMemory());
  expandArithmetic(manager, Machine::Cpu);
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass());
  lowerToLLVM(manager, options);
}

void ckpt::registerCpuPipeline() {
  PassPipelineRegistration<CpuPipelineOptions>(
      "ckpt-lower-to-cpu-pipeline",
      "lower functions of kernels to the LLVM dialect for the CPU",
      [](OpPassManager &manager, const CpuPipelineOptions &options) {
        buildCpuPipeline(manager, options);
      });
}
