//===- LowerStep.cpp - A step of kernels in LLVM's dialect ----------------===//

#include "LowerStep.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/Import/Donation.h"
#include "ckpt/Pipelines/CpuPipeline.h"
#include "ckpt/Pipelines/GpuPipeline.h"
#include "ckpt/Runtime/DiagnosedError.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace ckpt;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static BufferType describe(Type type) {
  if (auto tensor = dyn_cast<mlir::RankedTensorType>(type))
    return {type,
            tensor.getNumElements() * elementBytes(tensor.getElementType())};
  return {type, elementBytes(type)};
}

/// Verifies what the last pass made. Verifying after each pass takes a third of
/// the time of all of them; ckpt-opt does it, by the same pipelines.
static llvm::Error runPasses(mlir::PassManager &manager, ModuleOp module,
                             StringRef stage) {
  manager.enableVerifier(false);
  bool isDiagnosed = false;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(), [&](mlir::Diagnostic &diagnostic) {
        isDiagnosed |=
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        // For the handlers that print.
        return mlir::failure();
      });
  if (succeeded(manager.run(module)) && succeeded(mlir::verify(module)))
    return llvm::Error::success();
  if (isDiagnosed)
    return llvm::make_error<DiagnosedError>(stage.str());
  return makeError(stage + " failed");
}

/// From calls of kernels to LLVM's dialect.
static llvm::Error lowerCalls(ModuleOp module, const CompileOptions &options,
                              int64_t lanes) {
  mlir::PassManager manager(module.getContext());
  if (options.device == RunDevice::Cpu) {
    CpuPipelineOptions pipeline;
    pipeline.lanes = lanes;
    pipeline.threads = options.threads > 1;
    buildCpuPipeline(manager, pipeline);
    return runPasses(manager, module, "lowering to the CPU");
  }
  GpuPipelineOptions pipeline;
  if (llvm::Error error = parseGpuOptions(options.gpuOptions, pipeline))
    return error;
  EmitGpuKernelsOptions emit;
  emit.tensorCores = pipeline.tensorCores;
  emit.offerMatmuls = options.device == RunDevice::Cuda &&
                      (pipeline.offerMatmuls || options.offerMatmuls);
  manager.addPass(createEmitGpuKernels(emit));
  if (llvm::Error error = runPasses(manager, module, "lowering to launches"))
    return error;
  if (options.editLaunches)
    options.editLaunches(module);
  if (options.device == RunDevice::Emulator)
    pipeline.format = "llvm";
  mlir::PassManager rest(module.getContext());
  buildGpuPipeline(rest, pipeline);
  return runPasses(rest, module, "lowering to device code");
}

llvm::Expected<LoweredStep>
ckpt::lowerStep(ModuleOp module, const CompileOptions &options, int64_t lanes) {
  LoweredStep lowered;
  lowered.module = module.clone();
  FailureOr<mlir::func::FuncOp> step =
      findStep(*lowered.module, options.function);
  if (failed(step))
    return llvm::make_error<DiagnosedError>("finding the step");
  for (Type type : step->getArgumentTypes())
    lowered.arguments.push_back(describe(type));
  for (Type type : step->getResultTypes())
    lowered.results.push_back(describe(type));
  lowered.name = step->getName().str();
  lowered.donated = donatedResults(*step);

  // The arena is the last argument, but only until it is a bare pointer.
  for (auto function : lowered.module->getOps<mlir::func::FuncOp>())
    if (function != *step)
      function.setPrivate();
  mlir::PassManager toCalls(lowered.module->getContext());
  toCalls.addPass(mlir::createSymbolDCEPass());
  toCalls.addPass(createKernelsToCalls(
      {options.timeKernels, options.device != RunDevice::Cpu}));
  if (llvm::Error error =
          runPasses(toCalls, *lowered.module, "lowering to calls"))
    return std::move(error);
  if (step->getNumArguments() !=
      lowered.arguments.size() + lowered.results.size() + 1) {
    step->emitError("expected a function of kernels, as --ckpt-plan and "
                    "--ckpt-apply-plan make it, but '")
        << lowered.name << "' is none";
    return llvm::make_error<DiagnosedError>("lowering to calls");
  }
  auto arena = cast<mlir::MemRefType>(step->getArgumentTypes().back());
  lowered.arenaBytes = arena.getNumElements();
  if (llvm::Error error = lowerCalls(*lowered.module, options, lanes))
    return std::move(error);
  return std::move(lowered);
}
