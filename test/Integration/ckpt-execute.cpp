//===- ckpt-execute.cpp - Runs functions of kernels, checks their numbers -===//
//
// For every public function of a file: runs it with several widths of vectors
// and numbers of threads, and as code of a GPU on the emulator, which must
// agree bit by bit, and compares with upstream's loops. A function with
// `test.same_as = @f` must also give the bits of @f, whose arguments have the
// same types.
//
//===----------------------------------------------------------------------===//

#include "PlantFault.h"
#include "Reference.h"
#include "ckpt/Emulator/Emulator.h"
#include "ckpt/InitAll.h"
#include "ckpt/Runtime/CompiledStep.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include <cmath>
#include <ctime>

using namespace ckpt;
using namespace mlir;

static llvm::cl::opt<std::string> inputFile(llvm::cl::Positional,
                                            llvm::cl::Required);
static llvm::cl::opt<unsigned>
    repeats("time",
            llvm::cl::desc("only one variant: print its compile time and the "
                           "best of so many runs, in processor time"));
static llvm::cl::opt<bool>
    noReference("no-reference", llvm::cl::desc("do not run upstream's loops"));

static llvm::cl::opt<bool>
    allOrders("all-orders",
              llvm::cl::desc("run variants on the emulator in every order of "
                             "blocks and threads, not only shuffled"));
static llvm::cl::opt<std::string>
    only("only", llvm::cl::desc("compare the first variant with this one"));

namespace {
/// Memory of one value, at a multiple of 64, with its type.
class Buffer {
public:
  explicit Buffer(const BufferType &type)
      : type(type.type), bytes(type.bytes),
        storage(type.bytes + 128, char(0xA5)) {}
  char *data() {
    auto address = reinterpret_cast<uintptr_t>(storage.data());
    return reinterpret_cast<char *>((address + 63) / 64 * 64);
  }
  Type getElementType() const { return getElementTypeOrSelf(type); }
  int64_t getCount() const {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.getNumElements() : 1;
  }
  StringRef contents() { return StringRef(data(), bytes); }
  /// Whether nobody wrote behind its end.
  bool isEndIntact() {
    const char *end = storage.data() + storage.size();
    return llvm::all_of(ArrayRef<char>(data() + bytes, end),
                        [](char byte) { return byte == char(0xA5); });
  }
  double at(int64_t index);
  void set(int64_t index, double value);

private:
  Type type;
  int64_t bytes;
  std::vector<char> storage;
};
} // namespace

double Buffer::at(int64_t index) {
  Type type = getElementType();
  if (type.isF32())
    return reinterpret_cast<float *>(data())[index];
  if (type.isF64())
    return reinterpret_cast<double *>(data())[index];
  if (auto narrow = dyn_cast<FloatType>(type)) {
    uint16_t bits = reinterpret_cast<uint16_t *>(data())[index];
    return APFloat(narrow.getFloatSemantics(), APInt(16, bits))
        .convertToDouble();
  }
  if (type.isInteger(64) || type.isIndex())
    return reinterpret_cast<int64_t *>(data())[index];
  if (type.isInteger(32))
    return reinterpret_cast<int32_t *>(data())[index];
  return reinterpret_cast<int8_t *>(data())[index];
}

void Buffer::set(int64_t index, double value) {
  Type type = getElementType();
  if (type.isF32()) {
    reinterpret_cast<float *>(data())[index] = value;
  } else if (type.isF64()) {
    reinterpret_cast<double *>(data())[index] = value;
  } else if (auto narrow = dyn_cast<FloatType>(type)) {
    APFloat number(value);
    bool inexact;
    number.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &inexact);
    reinterpret_cast<uint16_t *>(data())[index] =
        number.bitcastToAPInt().getZExtValue();
  } else if (type.isInteger(64) || type.isIndex()) {
    reinterpret_cast<int64_t *>(data())[index] = value;
  } else if (type.isInteger(32)) {
    reinterpret_cast<int32_t *>(data())[index] = value;
  } else {
    reinterpret_cast<int8_t *>(data())[index] = value;
  }
}

static void fill(Buffer &buffer, uint64_t seed) {
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  for (int64_t index = 0; index < buffer.getCount(); ++index) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t random = state >> 33;
    Type type = buffer.getElementType();
    if (isa<FloatType>(type))
      buffer.set(index, random / double(1u << 30) - 1.0);
    else
      buffer.set(index, random % (type.isInteger(1) ? 2 : 5));
  }
}

using Buffers = std::vector<Buffer>;

static SmallVector<void *> pointersTo(Buffers &buffers) {
  SmallVector<void *> pointers;
  for (Buffer &buffer : buffers)
    pointers.push_back(buffer.data());
  return pointers;
}

static Buffers makeBuffers(ArrayRef<BufferType> types) {
  return Buffers(types.begin(), types.end());
}

static Buffers makeArguments(const CompiledStep &step) {
  Buffers arguments = makeBuffers(step.getArguments());
  for (auto [number, buffer] : llvm::enumerate(arguments))
    fill(buffer, number);
  return arguments;
}

static double processorSeconds() {
  return std::clock() / double(CLOCKS_PER_SEC);
}

static Buffers run(const CompiledStep &step, StringRef name) {
  Buffers arguments = makeArguments(step);
  Buffers results = makeBuffers(step.getResults());
  Buffer arena(BufferType{Type(), step.getArenaBytes()});
  SmallVector<void *> in = pointersTo(arguments), out = pointersTo(results);
  step.run(in, out, arena.data());
  double best = INFINITY;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    double start = processorSeconds();
    step.run(in, out, arena.data());
    best = std::min(best, processorSeconds() - start);
  }
  for (Buffer &result : results)
    if (!result.isEndIntact()) {
      llvm::outs() << name << ": expected writes inside results only\n";
      exit(1);
    }
  if (repeats)
    llvm::outs() << name << ": " << llvm::format("%.3f ms", best * 1e3) << "\n";
  return results;
}

/// Null-terminated message, or success.
static std::string compareBits(Buffers &left, Buffers &right,
                               const Twine &what) {
  for (size_t number = 0; number < left.size(); ++number)
    if (left[number].contents() != right[number].contents())
      for (int64_t index = 0; index < left[number].getCount(); ++index)
        if (llvm::bit_cast<uint64_t>(left[number].at(index)) !=
            llvm::bit_cast<uint64_t>(right[number].at(index)))
          return llvm::formatv(
                     "result {0} differs at {1}: {2} and {3} with {4}", number,
                     index, left[number].at(index), right[number].at(index),
                     what.str())
              .str();
  return "";
}

static std::string compareValues(Buffers &ours, Buffers &theirs) {
  for (size_t number = 0; number < ours.size(); ++number) {
    auto type = dyn_cast<FloatType>(ours[number].getElementType());
    double tolerance = !type ? 0 : type.getWidth() >= 32 ? 2e-5 : 2e-2;
    for (int64_t index = 0; index < ours[number].getCount(); ++index) {
      double left = ours[number].at(index), right = theirs[number].at(index);
      double difference = std::abs(left - right);
      if (!(difference <= tolerance * (1 + std::abs(right))) &&
          !(left == right) && !(std::isnan(left) && std::isnan(right)))
        return llvm::formatv("result {0} at {1}: expected {2}, but got {3}",
                             number, index, right, left)
            .str();
    }
  }
  return "";
}

static llvm::Expected<Buffers>
runReference(ModuleOp module, const CompiledStep &step, StringRef name) {
  auto engine = compileReference(module, name);
  if (!engine)
    return engine.takeError();
  auto entry = (*engine)->lookupPacked(name);
  if (!entry)
    return entry.takeError();
  Buffers arguments = makeArguments(step);
  Buffers results = makeBuffers(step.getResults());
  SmallVector<void *> pointers = pointersTo(arguments);
  pointers.append(pointersTo(results));
  SmallVector<void *> packed;
  for (auto [number, pointer] : llvm::enumerate(pointers))
    packed.push_back(number < arguments.size() &&
                             !isa<ShapedType>(step.getArguments()[number].type)
                         ? pointer
                         : static_cast<void *>(&pointer));
  (*entry)(packed.data());
  return results;
}

namespace {
/// One way to run a function.
struct Variant {
  std::string name;
  CompileOptions options;
};
} // namespace

static bool hasNarrowFloats(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isBF16() || element.isF16();
  });
}

static SmallVector<Variant> variantsOf(func::FuncOp function) {
  SmallVector<Variant> variants;
  auto add = [&](StringRef name, int64_t lanes, unsigned threads) {
    Variant variant;
    variant.name = name.str();
    variant.options.function = function.getName().str();
    variant.options.lanes = lanes;
    variant.options.threads = threads;
    variants.push_back(variant);
  };
  add("16 lanes", 16, 1);
  if (repeats)
    return variants;
  if (!plantsFault() && only.empty()) {
    add("2 threads", 16, 2);
    add("8 lanes", 8, 1);
    add("1 lane", 1, 1);
  }
  auto addEmulated = [&](StringRef name, StringRef gpuOptions) {
    if (!only.empty() && only != name)
      return;
    add(name, 1, 1);
    variants.back().options.device = RunDevice::Emulator;
    variants.back().options.gpuOptions = gpuOptions.str();
    variants.back().options.editLaunches = plantFault;
  };
  addEmulated("the emulator", "");
  // The emulator's tensor cores add in the order of the CPU.
  if (hasNarrowFloats(function)) {
    addEmulated("mma on the emulator", "tensor-cores=mma");
    addEmulated("wgmma on the emulator", "chip=sm_90a tensor-cores=wgmma");
  }
  return variants;
}

static SmallVector<ThreadOrder> ordersOf(const Variant &variant) {
  if (!allOrders || variant.options.device != RunDevice::Emulator)
    return {ThreadOrder::Shuffled};
  return {ThreadOrder::Forward, ThreadOrder::Reverse, ThreadOrder::Shuffled};
}

/// Message of the first difference, or nothing.
static llvm::Expected<std::string> check(ModuleOp module,
                                         func::FuncOp function) {
  std::string name = function.getName().str();
  std::optional<Buffers> first;
  std::unique_ptr<CompiledStep> step;
  for (const Variant &variant : variantsOf(function)) {
    double start = processorSeconds();
    auto compiled = CompiledStep::compile(module, variant.options);
    if (!compiled)
      return compiled.takeError();
    step = std::move(*compiled);
    double elapsed = processorSeconds() - start;
    if (repeats)
      llvm::outs() << name << ": compiled in "
                   << llvm::format("%.2f s", elapsed) << "\n";
    for (ThreadOrder order : ordersOf(variant)) {
      setThreadOrder(order);
      Buffers results = run(*step, name);
      if (!first) {
        first = std::move(results);
        continue;
      }
      std::string error = compareBits(*first, results, variant.name);
      if (!error.empty())
        return error;
    }
  }
  if (auto other = function->getAttrOfType<FlatSymbolRefAttr>("test.same_as")) {
    CompileOptions options;
    options.function = other.getValue().str();
    auto compiled = CompiledStep::compile(module, options);
    if (!compiled)
      return compiled.takeError();
    Buffers results = run(**compiled, other.getValue());
    std::string error =
        compareBits(*first, results, "@" + Twine(other.getValue()));
    if (!error.empty())
      return error;
  }
  if (noReference)
    return std::string();
  auto expected = runReference(module, *step, name);
  if (!expected)
    return expected.takeError();
  return compareValues(*first, *expected);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv);
  DialectRegistry registry;
  ckpt::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceFile<ModuleOp>(inputFile, &context);
  if (!module)
    return 1;
  int status = 0;
  for (auto function : module->getOps<func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    auto error = check(*module, function);
    std::string message = error ? *error : llvm::toString(error.takeError());
    llvm::outs() << function.getName() << ": "
                 << (message.empty() ? "ok" : message) << "\n";
    status |= !message.empty();
  }
  return status;
}
