//===- Execution.cpp - Compiles a step and calls it -----------------------===//

#include "ckpt/Runtime/Execution.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/Pipelines/CpuPipeline.h"
#include "ckpt/Pipelines/GpuPipeline.h"
#include "ckpt/Runtime/Emulator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <ctime>

using namespace ckpt;

/// Of libomp, which this library links so that compiled steps find it.
extern "C" void omp_set_num_threads(int threads);

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

static llvm::orc::SymbolMap markSymbols(llvm::orc::MangleAndInterner interner) {
  return {{interner(markFunctionName),
           {llvm::orc::ExecutorAddr::fromPtr(&mark),
            llvm::JITSymbolFlags::Exported}}};
}

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static void initializeTarget() {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)once;
}

static llvm::Expected<mlir::func::FuncOp> findStep(ModuleOp module,
                                                   StringRef name) {
  if (!name.empty()) {
    if (auto function = module.lookupSymbol<mlir::func::FuncOp>(name))
      return function;
    return makeError("expected a function '" + name + "', but got none");
  }
  mlir::func::FuncOp found;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (found)
      return makeError("expected one public function or a name, but got '" +
                       found.getName() + "' and '" + function.getName() + "'");
    found = function;
  }
  if (!found)
    return makeError("expected a public function, but got none");
  return found;
}

static BufferType describe(Type type) {
  auto bytesOf = [](Type element) -> int64_t {
    return element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
  };
  if (auto tensor = dyn_cast<mlir::RankedTensorType>(type))
    return {type, tensor.getNumElements() * bytesOf(tensor.getElementType())};
  return {type, bytesOf(type)};
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

static llvm::orc::SymbolMap
driverSymbols(llvm::orc::MangleAndInterner interner) {
  llvm::orc::SymbolMap symbols;
  for (const auto &symbol : emulatorSymbols())
    symbols[interner(symbol.getKey())] = {
        llvm::orc::ExecutorAddr::fromPtr(symbol.getValue()),
        llvm::JITSymbolFlags::Exported};
  return symbols;
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
    if (failed(manager.run(module)))
      return makeError("lowering to the CPU failed");
    return llvm::Error::success();
  }
  EmitGpuKernelsOptions emit;
  emit.tensorCores = options.tensorCores;
  manager.addPass(createEmitGpuKernels(emit));
  if (failed(manager.run(module)))
    return makeError("lowering to launches failed");
  if (options.editLaunches)
    options.editLaunches(module);
  mlir::PassManager rest(module.getContext());
  GpuPipelineOptions pipeline;
  pipeline.format = "llvm";
  buildGpuPipeline(rest, pipeline);
  if (failed(rest.run(module)))
    return makeError("lowering to device code failed");
  return llvm::Error::success();
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

  mlir::OwningOpRef<ModuleOp> copy(module.clone());
  auto step = findStep(*copy, options.function);
  if (!step)
    return step.takeError();
  std::unique_ptr<CompiledStep> result(new CompiledStep());
  result->threads = options.threads;
  for (Type type : step->getArgumentTypes())
    result->arguments.push_back(describe(type));
  for (Type type : step->getResultTypes())
    result->results.push_back(describe(type));
  std::string name = step->getName().str();

  // The arena is the last argument, but only until it is a bare pointer.
  for (auto function : copy->getOps<mlir::func::FuncOp>())
    if (function != *step)
      function.setPrivate();
  mlir::PassManager toCalls(copy->getContext());
  toCalls.addPass(mlir::createSymbolDCEPass());
  toCalls.addPass(createKernelsToCalls(
      {options.timeKernels, options.device == RunDevice::Emulator}));
  if (failed(toCalls.run(*copy)))
    return makeError("lowering to calls failed");
  auto arena = dyn_cast<mlir::MemRefType>(step->getArgumentTypes().back());
  if (!arena || step->getNumArguments() !=
                    result->arguments.size() + result->results.size() + 1)
    return makeError("expected '" + name + "' to be a function of kernels");
  result->arenaBytes = arena.getNumElements();
  if (llvm::Error error = lowerCalls(*copy, options, lanes))
    return std::move(error);

  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  mlir::ExecutionEngineOptions engineOptions;
  auto transformer = mlir::makeOptimizingTransformer(
      options.optLevel, /*sizeLevel=*/0, machine->get());
  engineOptions.transformer = transformer;
  engineOptions.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  auto engine =
      mlir::ExecutionEngine::create(*copy, engineOptions, std::move(*machine));
  if (!engine)
    return engine.takeError();
  if (options.timeKernels)
    (*engine)->registerSymbols(markSymbols);
  if (options.device == RunDevice::Emulator) {
    (*engine)->registerSymbols(driverSymbols);
    // Loads the device's module.
    (*engine)->initialize();
    if (llvm::Error error = takeEmulatorError())
      return std::move(error);
  }
  auto entry = (*engine)->lookupPacked(name);
  if (!entry)
    return entry.takeError();
  result->engine = std::move(*engine);
  result->entry = *entry;
  return std::move(result);
}

void CompiledStep::run(ArrayRef<void *> arguments, ArrayRef<void *> results,
                       void *arena) const {
  omp_set_num_threads(threads);
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
