//===- GpuPipeline.cpp - From planned kernels to NVVM and launches --------===//

#include "ckpt/Pipelines/GpuPipeline.h"
#include "ExpandArithmetic.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/Cuda/TensorMap.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/NVGPUToNVVM/NVGPUToNVVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

using namespace mlir;

/// Functions of kernels to launches of device code, all on memrefs.
static void emitLaunches(OpPassManager &manager,
                         const ckpt::GpuPipelineOptions &options) {
  ckpt::KernelsToCallsOptions calls;
  calls.ownConstants = true;
  manager.addPass(ckpt::createKernelsToCalls(calls));
  ckpt::EmitGpuKernelsOptions emit;
  emit.tensorCores = options.tensorCores;
  emit.offerMatmuls = options.offerMatmuls;
  manager.addPass(ckpt::createEmitGpuKernels(emit));
  manager.addPass(ckpt::createCheckKernelMemory());
}

namespace {
/// Upstream carries the annotation of a loop to its branch, but under a name
/// that only the loop had.
struct KeepLoopAnnotations
    : PassWrapper<KeepLoopAnnotations, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepLoopAnnotations)

  void runOnOperation() override {
    getOperation().walk([](LLVM::BrOp branch) {
      if (auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
              branch->removeDiscardableAttr("llvm.loop_annotation")))
        branch.setLoopAnnotationAttr(annotation);
    });
  }
};
} // namespace

namespace {
/// Upstream drops the attribute that passes a parameter by value. The tensor
/// maps that copies of boxes take are such parameters, and no op writes to
/// them.
struct PassMapsByValue
    : PassWrapper<PassMapsByValue, OperationPass<gpu::GPUModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PassMapsByValue)

  void runOnOperation() override {
    auto bytes = LLVM::LLVMArrayType::get(IntegerType::get(&getContext(), 8),
                                          ckpt::cuda::tensorMapBytes);
    getOperation().walk(
        [&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
          auto map = dyn_cast<BlockArgument>(copy.getTmaDescriptor());
          auto kernel = copy->getParentOfType<LLVM::LLVMFuncOp>();
          if (!map || map.getOwner() != &kernel.getBody().front())
            return;
          kernel.setArgAttr(map.getArgNumber(),
                            LLVM::LLVMDialect::getByValAttrName(),
                            TypeAttr::get(bytes));
          kernel.setArgAttr(map.getArgNumber(),
                            NVVM::NVVMDialect::getGridConstantAttrName(),
                            UnitAttr::get(&getContext()));
        });
  }
};
} // namespace

/// Device code to NVVM.
static void lowerDevice(OpPassManager &manager) {
  OpPassManager &device = manager.nest<gpu::GPUModuleOp>();
  ckpt::expandArithmetic(device, ckpt::Machine::Gpu);
  device.addPass(ckpt::createExpandRemainders());
  device.addPass(createConvertLinalgToLoopsPass());
  device.addPass(createCSEPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(ckpt::createMathToIntrinsics());
  device.addPass(createConvertComplexToLLVMPass());
  // Functions of integers are all that is left.
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(createConvertNVGPUToNVVMPass());
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.useBarePtrCallConv = true;
  device.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  device.addPass(std::make_unique<KeepLoopAnnotations>());
  device.addPass(std::make_unique<PassMapsByValue>());
  // Ops without an intrinsic of LLVM become PTX.
  device.addPass(createConvertNVVMToLLVMPass());
  // Vectors of values only: the former knows of the spaces of memory.
  device.addPass(createConvertVectorToLLVMPass());
  device.addPass(createArithToLLVMConversionPass());
  device.addPass(createUBToLLVMConversionPass());
  device.addPass(createCSEPass());
  device.addPass(createReconcileUnrealizedCastsPass());
  device.addPass(ckpt::createBfloatsToIntegers());
}

/// Whether the CUDA toolkit has \p tool; looks where upstream does.
static bool hasTool(StringRef tool, StringRef toolkit) {
  SmallVector<StringRef> roots{toolkit};
  for (const char *variable : {"CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable))
      roots.push_back(root);
  SmallVector<std::string> folders;
  for (StringRef root : roots)
    if (!root.empty())
      folders.push_back((root + "/bin").str());
  SmallVector<StringRef> paths(folders.begin(), folders.end());
  return llvm::sys::findProgramByName(tool, paths) ||
         llvm::sys::findProgramByName(tool);
}

namespace {
/// Upstream says that a tool is missing in several sentences, none of which
/// names the format that asks for it.
struct CheckToolkit : PassWrapper<CheckToolkit, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckToolkit)
  CheckToolkit(StringRef format, StringRef toolkit)
      : format(format), toolkit(toolkit) {}

  void runOnOperation() override {
    SmallVector<StringRef> tools;
    if (format == "bin" || format == "fatbin")
      tools.push_back("ptxas");
    if (format == "fatbin")
      tools.push_back("fatbinary");
    for (StringRef tool : tools) {
      if (hasTool(tool, toolkit))
        continue;
      getOperation().emitError("format '")
          << format << "' needs '" << tool
          << "' of the CUDA toolkit, but it is neither in the toolkit's folder "
             "nor on the path; format 'isa' needs no toolkit";
      return signalPassFailure();
    }
  }

  std::string format, toolkit;
};

/// Upstream notes how long the device's compiler took: output would differ from
/// run to run.
struct DropCompileTimes
    : PassWrapper<DropCompileTimes, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DropCompileTimes)

  void runOnOperation() override {
    for (auto binary : getOperation().getOps<gpu::BinaryOp>()) {
      SmallVector<Attribute> objects;
      for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
        objects.push_back(withoutTimes(object));
      binary.setObjectsAttr(ArrayAttr::get(&getContext(), objects));
    }
  }

  static gpu::ObjectAttr withoutTimes(gpu::ObjectAttr object) {
    NamedAttrList properties(object.getProperties());
    properties.erase("LLVMIRToISATimeInMs");
    properties.erase("ISAToBinaryTimeInMs");
    return gpu::ObjectAttr::get(object.getContext(), object.getTarget(),
                                object.getFormat(), object.getObject(),
                                properties.getDictionary(object.getContext()),
                                object.getKernels());
  }
};
} // namespace

static void makeBinary(OpPassManager &manager,
                       const ckpt::GpuPipelineOptions &options) {
  manager.addPass(
      std::make_unique<CheckToolkit>(options.format, options.toolkit));
  ckpt::SetGpuTargetOptions target;
  target.chip = options.chip;
  manager.addPass(ckpt::createSetGpuTarget(target));
  GpuModuleToBinaryPassOptions binary;
  binary.toolkitPath = options.toolkit;
  binary.compilationTarget = options.format;
  manager.addPass(createGpuModuleToBinaryPass(binary));
  manager.addPass(std::make_unique<DropCompileTimes>());
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

llvm::Error ckpt::parseGpuOptions(StringRef text, GpuPipelineOptions &options) {
  std::string message;
  llvm::raw_string_ostream messages(message);
  if (succeeded(options.parseFromString(text, messages)))
    return llvm::Error::success();
  return llvm::createStringError(StringRef(message).trim());
}

void ckpt::buildGpuPipeline(OpPassManager &manager,
                            const GpuPipelineOptions &options) {
  emitLaunches(manager, options);
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
