//===- CompiledStep.cpp - Compiles a step and calls it --------------------===//

#include "ckpt/Runtime/CompiledStep.h"
#include "LowerStep.h"
#include "OpenMP.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/Emulator/Emulator.h"
#include "ckpt/Support/CompilerSymbols.h"
#include "ckpt/Support/HostCompiler.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <ctime>

using namespace ckpt;

using Clock = std::chrono::steady_clock;

/// A moment between two kernels of the step that is timed.
struct Mark {
  /// When the kernel before had ended and when the next one started.
  Clock::time_point ended, started;
  /// Processor time of the thread in between.
  std::chrono::nanoseconds processorTime;
};
static std::vector<Mark> marks;

static std::chrono::nanoseconds processorTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) +
         std::chrono::nanoseconds(time.tv_nsec);
}

static void mark() {
  Clock::time_point ended = Clock::now();
  std::chrono::nanoseconds used = processorTime();
  marks.push_back({ended, Clock::now(), used});
}

static int64_t lanesOf(llvm::orc::JITTargetMachineBuilder &machine) {
  std::string features = machine.getFeatures().getString();
  if (machine.getTargetTriple().isX86()) {
    if (llvm::StringRef(features).contains("+avx512f"))
      return 16;
    return llvm::StringRef(features).contains("+avx2") ? 8 : 4;
  }
  return 4;
}

int64_t ckpt::hostLanes() {
  auto builder = detectHost();
  if (builder)
    return lanesOf(*builder);
  // Without a compiler for this machine, every use says so.
  llvm::consumeError(builder.takeError());
  return 4;
}

/// Names of the functions of \p device; \p timeKernels adds the one that marks
/// the moments between kernels.
static llvm::StringMap<void *> namesOf(const cuda::DeviceFunctions &device,
                                       bool timeKernels) {
  llvm::StringMap<void *> names;
  auto add = [&](StringRef name, auto *function) {
    if (function)
      names[name] = reinterpret_cast<void *>(function);
  };
  add("mgpuModuleLoad", device.mgpuModuleLoad);
  add("mgpuModuleLoadJIT", device.mgpuModuleLoadJIT);
  add("mgpuModuleUnload", device.mgpuModuleUnload);
  add("mgpuModuleGetFunction", device.mgpuModuleGetFunction);
  add("mgpuLaunchKernel", device.mgpuLaunchKernel);
  add("mgpuStreamCreate", device.mgpuStreamCreate);
  add("mgpuStreamDestroy", device.mgpuStreamDestroy);
  add("mgpuStreamSynchronize", device.mgpuStreamSynchronize);
  add("mgpuMemcpy", device.mgpuMemcpy);
  add("ckptCudaAddTensorMap", device.ckptCudaAddTensorMap);
  add("ckptCudaOfferMatmul", device.ckptCudaOfferMatmul);
  if (timeKernels)
    add(markFunctionName, device.ckptCudaMark ? device.ckptCudaMark : &mark);
  return names;
}

/// The device that host code of \p device calls; the CPU calls none.
static cuda::DeviceFunctions functionsOf(RunDevice device) {
  switch (device) {
  case RunDevice::Cpu:
    return {};
  case RunDevice::Emulator:
    return emulatorFunctions;
  case RunDevice::Cuda:
    return cuda::gpuFunctions;
  }
  llvm_unreachable("unknown device");
}

/// Registers the functions of the device of \p options for compiled code.
static void registerDevice(mlir::ExecutionEngine &engine,
                           const CompileOptions &options) {
  engine.registerSymbols([&](llvm::orc::MangleAndInterner interner) {
    llvm::orc::SymbolMap symbols;
    for (const auto &name :
         namesOf(functionsOf(options.device), options.timeKernels))
      symbols[interner(name.getKey())] = {
          llvm::orc::ExecutorAddr::fromPtr(name.getValue()),
          llvm::JITSymbolFlags::Exported};
    return symbols;
  });
}

CompiledStep::~CompiledStep() = default;

llvm::Expected<std::unique_ptr<CompiledStep>>
CompiledStep::compile(ModuleOp module, const CompileOptions &options) {
  auto builder = detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  int64_t lanes = options.lanes ? options.lanes : lanesOf(*builder);

  auto lowered = lowerStep(module, options, lanes);
  if (!lowered)
    return lowered.takeError();

  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  mlir::ExecutionEngineOptions engineOptions;
  // Each run would leave a file for perf among the temporary ones.
  engineOptions.enablePerfNotificationListener = false;
  auto transformer = mlir::makeOptimizingTransformer(
      options.optLevel, /*sizeLevel=*/0, machine->get());
  engineOptions.transformer = transformer;
  const OpenMP &openMP = OpenMP::get();
  engineOptions.sharedLibPaths = openMP.path;
  engineOptions.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  auto engine = mlir::ExecutionEngine::create(*lowered->module, engineOptions,
                                              std::move(*machine));
  if (!engine)
    return engine.takeError();
  (*engine)->registerSymbols([](llvm::orc::MangleAndInterner interner) {
    return compilerSymbols(interner);
  });
  registerDevice(**engine, options);
  if (options.device != RunDevice::Cpu) {
    // Loads the device's module.
    (*engine)->initialize();
    if (llvm::Error error = takeEmulatorError())
      return std::move(error);
  }
  auto entry = (*engine)->lookupPacked(lowered->name);
  if (!entry)
    return entry.takeError();
  std::unique_ptr<CompiledStep> result(new CompiledStep());
  result->arguments = std::move(lowered->arguments);
  result->results = std::move(lowered->results);
  result->donated = std::move(lowered->donated);
  result->arenaBytes = lowered->arenaBytes;
  result->threads = options.threads;
  result->engine = std::move(*engine);
  result->entry = *entry;
  return std::move(result);
}

void CompiledStep::run(ArrayRef<void *> arguments, ArrayRef<void *> results,
                       void *arena) const {
  OpenMP::get().setThreads(threads);
  SmallVector<void *> pointers(arguments);
  pointers.append(results.begin(), results.end());
  pointers.push_back(arena);
  // The packed form takes the address of each value.
  SmallVector<void *> packed;
  for (auto [number, pointer] : llvm::enumerate(pointers)) {
    bool byValue = number < this->arguments.size() &&
                   !isa<mlir::RankedTensorType>(this->arguments[number].type);
    packed.push_back(byValue ? pointer : static_cast<void *>(&pointer));
  }
  entry(packed.data());
}

std::vector<int64_t> CompiledStep::time(ArrayRef<void *> arguments,
                                        ArrayRef<void *> results,
                                        void *arena) const {
  marks.clear();
  run(arguments, results, arena);
  std::vector<int64_t> kernelNs;
  for (size_t i = 1; i < marks.size(); ++i) {
    std::chrono::nanoseconds elapsed = marks[i].ended - marks[i - 1].started;
    // A thread that had to wait for its processor did not work in that time.
    if (threads == 1)
      elapsed = std::min(elapsed,
                         marks[i].processorTime - marks[i - 1].processorTime);
    kernelNs.push_back(elapsed.count());
  }
  return kernelNs;
}
