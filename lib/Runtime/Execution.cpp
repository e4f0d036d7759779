//===- Execution.cpp - Compiles a step and calls it -----------------------===//

#include "ckpt/Runtime/Execution.h"
#include "CompilerSymbols.h"
#include "LowerStep.h"
#include "OpenMP.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/Cuda/Device.h"
#include "ckpt/Runtime/Emulator.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <ctime>

using namespace ckpt;

using Clock = std::chrono::steady_clock;

/// A moment between two kernels of the step that is timed.
struct Mark {
  /// When the kernel before had ended and when the next one started.
  Clock::time_point ended, started;
  /// What the thread had used of its processor in between.
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

static void registerMark(mlir::ExecutionEngine &engine, RunDevice device) {
  auto *function = device == RunDevice::Cuda ? &cuda::ckptCudaMark : &mark;
  engine.registerSymbols([&](llvm::orc::MangleAndInterner interner) {
    return llvm::orc::SymbolMap{{interner(markFunctionName),
                                 {llvm::orc::ExecutorAddr::fromPtr(function),
                                  llvm::JITSymbolFlags::Exported}}};
  });
}

static void initializeTarget() {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)once;
}

static int64_t lanesOf(llvm::orc::JITTargetMachineBuilder &machine) {
  llvm::StringRef features = machine.getFeatures().getString();
  if (machine.getTargetTriple().isX86()) {
    if (features.contains("+avx512f"))
      return 16;
    return features.contains("+avx2") ? 8 : 4;
  }
  return 4;
}

int64_t ckpt::hostLanes() {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (builder)
    return lanesOf(*builder);
  // Without a compiler for this machine, every use says so.
  llvm::consumeError(builder.takeError());
  return 4;
}

static llvm::StringMap<void *> cudaSymbols() {
  llvm::StringMap<void *> symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[name] = reinterpret_cast<void *>(function);
  };
  add("mgpuModuleLoad", &cuda::mgpuModuleLoad);
  add("mgpuModuleLoadJIT", &cuda::mgpuModuleLoadJIT);
  add("mgpuModuleUnload", &cuda::mgpuModuleUnload);
  add("mgpuModuleGetFunction", &cuda::mgpuModuleGetFunction);
  add("mgpuLaunchKernel", &cuda::mgpuLaunchKernel);
  add("mgpuStreamCreate", &cuda::mgpuStreamCreate);
  add("mgpuStreamDestroy", &cuda::mgpuStreamDestroy);
  add("mgpuStreamSynchronize", &cuda::mgpuStreamSynchronize);
  add("mgpuMemcpy", &cuda::mgpuMemcpy);
  add("ckptCudaOfferMatmul", &cuda::ckptCudaOfferMatmul);
  add("ckptCudaAddTensorMap", &cuda::ckptCudaAddTensorMap);
  return symbols;
}

/// Where the functions of a GPU's driver are, for compiled code.
static void registerDriver(mlir::ExecutionEngine &engine, RunDevice device) {
  engine.registerSymbols([&](llvm::orc::MangleAndInterner interner) {
    llvm::orc::SymbolMap symbols;
    for (const auto &symbol :
         device == RunDevice::Cuda ? cudaSymbols() : emulatorSymbols())
      symbols[interner(symbol.getKey())] = {
          llvm::orc::ExecutorAddr::fromPtr(symbol.getValue()),
          llvm::JITSymbolFlags::Exported};
    return symbols;
  });
}

CompiledStep::~CompiledStep() = default;

llvm::Expected<std::unique_ptr<CompiledStep>>
CompiledStep::compile(ModuleOp module, const CompileOptions &options) {
  initializeTarget();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
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
  if (options.timeKernels)
    registerMark(**engine, options.device);
  if (options.device != RunDevice::Cpu) {
    registerDriver(**engine, options.device);
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
