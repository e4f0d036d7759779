//===- MeasureStep.cpp - Runs a planned step and measures it --------------===//

#include "Run/MeasureStep.h"
#include "Run/CompareResults.h"
#include "Run/MeasureOnGpu.h"
#include "Run/Messages.h"

#include <chrono>

using namespace ckpt;
using Clock = std::chrono::steady_clock;

static int64_t nanosecondsSince(Clock::time_point start) {
  return std::chrono::nanoseconds(Clock::now() - start).count();
}

namespace {
/// A compiled step with its memory.
class Run {
public:
  /// A result that lies in a donated argument has one buffer with it.
  Run(const CompiledStep &step, const Buffers &arguments,
      const Buffers &results, GuardedBuffer &arena)
      : step(step), arguments(arguments), results(results), arena(arena) {
    for (auto [buffer, result] : llvm::zip_equal(arguments, step.getDonated()))
      argumentPointers.push_back(result < 0 ? buffer->data()
                                            : results[result]->data());
    for (const auto &buffer : results)
      resultPointers.push_back(buffer->data());
  }

  /// Runs once and returns the nanoseconds; writes the times of each kernel to
  /// \p kernelNs, if the step was compiled for it.
  llvm::Expected<int64_t> once(std::vector<int64_t> &kernelNs) {
    donate();
    Clock::time_point start = Clock::now();
    kernelNs = step.time(argumentPointers, resultPointers, arena.data());
    int64_t elapsed = nanosecondsSince(start);
    if (llvm::Error error = arena.checkEdges())
      return std::move(error);
    for (const auto &buffer : results)
      if (llvm::Error error = buffer->checkEdges())
        return std::move(error);
    return elapsed;
  }

  /// Makes all that the step writes unusable.
  void poison() {
    arena.poison();
    for (const auto &buffer : results)
      buffer->poison();
  }

private:
  /// The step overwrites donated arguments: it starts from a copy.
  void donate() {
    for (auto [buffer, result] : llvm::zip_equal(arguments, step.getDonated()))
      if (result >= 0)
        std::copy_n(buffer->data(), buffer->size(), results[result]->data());
  }

  const CompiledStep &step;
  const Buffers &arguments, &results;
  GuardedBuffer &arena;
  SmallVector<void *> argumentPointers, resultPointers;
};
} // namespace

std::vector<std::vector<char>> ckpt::copyOf(const Buffers &buffers) {
  std::vector<std::vector<char>> copies;
  for (const auto &buffer : buffers)
    copies.emplace_back(buffer->data(), buffer->data() + buffer->size());
  return copies;
}

llvm::Error ckpt::differingRuns(StringRef difference) {
  return llvm::createStringError(
      "two runs of the step differ in " + difference +
      ": it reads memory that it did not write, or depends on timing");
}

static int64_t touchedBytes(const Buffers &buffers) {
  int64_t sum = 0;
  for (const auto &buffer : buffers)
    sum += buffer->touchedBytes();
  return sum;
}

/// Runs as often as asked and fills \p measurement.
static llvm::Error measure(const CompiledStep &step, const RunOptions &options,
                           const Signature &signature, const Buffers &arguments,
                           Measurement &measurement) {
  auto arena = GuardedBuffer::create(step.getArenaBytes(), "the arena");
  if (!arena)
    return arena.takeError();
  auto results = allocate(signature.results);
  if (!results)
    return results.takeError();
  measurement.arenaBytes = step.getArenaBytes();
  measurement.results = std::move(*results);

  Run run(step, arguments, measurement.results, **arena);
  ResidentGrowth firstGrowth;
  auto first = run.once(measurement.kernelNs);
  if (!first)
    return first.takeError();
  measurement.touchedBytes = (*arena)->touchedBytes();
  // A later run could reuse memory that this one allocated and gave back, so
  // both count.
  if (int64_t peak = firstGrowth.peakBytes(); peak >= 0)
    measurement.otherBytes = std::max<int64_t>(
        0, peak - measurement.touchedBytes - touchedBytes(measurement.results));
  std::vector<std::vector<char>> firstResults = copyOf(measurement.results);

  measurement.stepNs = *first;
  for (unsigned i = 0; i < options.repeat; ++i) {
    run.poison();
    ResidentGrowth growth;
    std::vector<int64_t> kernelNs;
    auto elapsed = run.once(kernelNs);
    if (!elapsed)
      return elapsed.takeError();
    for (auto [fastest, again] :
         llvm::zip_equal(measurement.kernelNs, kernelNs))
      fastest = i == 0 ? again : std::min(fastest, again);
    measurement.otherBytes =
        std::max(measurement.otherBytes, growth.peakBytes());
    measurement.stepNs =
        i == 0 ? *elapsed : std::min(measurement.stepNs, *elapsed);
    if (auto difference =
            compareBits(signature, measurement.results, firstResults))
      return differingRuns(*difference);
  }
  return llvm::Error::success();
}

FailureOr<Measurement> ckpt::measureModule(ModuleOp module,
                                           const RunOptions &options,
                                           const Signature &signature,
                                           const Buffers &arguments) {
  Measurement measurement;
  Clock::time_point start = Clock::now();
  CompileOptions compileOptions;
  compileOptions.function = options.function;
  compileOptions.threads = options.threads;
  compileOptions.timeKernels = options.timeKernels;
  compileOptions.device = options.device;
  compileOptions.gpuOptions = options.gpuOptions;
  compileOptions.offerMatmuls =
      options.matmulLibrary != cuda::LibraryUse::Never;
  auto step = CompiledStep::compile(module, compileOptions);
  if (!step)
    return report(step.takeError());
  measurement.compileMs = nanosecondsSince(start) / 1000000;
  auto *measureStep =
      options.device == RunDevice::Cuda ? &measureOnDevice : &measure;
  if (llvm::Error error =
          measureStep(**step, options, signature, arguments, measurement))
    return report(std::move(error));
  return measurement;
}
