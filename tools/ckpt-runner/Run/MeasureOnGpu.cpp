//===- MeasureOnGpu.cpp - Runs a compiled step on a GPU -------------------===//

#include "Run/MeasureOnGpu.h"
#include "Run/CompareResults.h"
#include "ckpt/Cuda/Device.h"

using namespace ckpt;

static llvm::Error deviceError() {
  return llvm::createStringError(cuda::failure());
}

namespace {
/// A compiled step with its memory on the device.
class DeviceRun {
public:
  DeviceRun(const CompiledStep &step, const Buffers &arguments,
            const Buffers &results)
      : step(step), arguments(arguments), results(results) {}

  /// Chooses the runners of matmuls; before `prepare`.
  llvm::Error choose(cuda::LibraryUse library);
  /// Allocates, and copies arguments to the device.
  llvm::Error prepare();
  int64_t getBuffersBytes() const { return memory.getBuffersBytes(); }
  llvm::Error runOnce();
  llvm::Error capture();
  llvm::Error replay();
  llvm::Error time(unsigned repeat, int64_t &medianNs);
  /// The least time of each kernel.
  llvm::Error timeKernels(unsigned repeat, std::vector<int64_t> &kernelNs);
  /// Makes all that the step writes unusable.
  llvm::Error poison();
  llvm::Error copyResults();
  /// The step overwrites donated arguments: it starts from a copy.
  llvm::Error donate();

private:
  cuda::Step launches() {
    return {[](void *self) { static_cast<DeviceRun *>(self)->launch(); }, this};
  }
  void launch() { step.run(argumentPointers, resultPointers, memory.arena()); }

  const CompiledStep &step;
  const Buffers &arguments, &results;
  cuda::StepMemory memory;
  cuda::StepGraph graph;
  SmallVector<void *> argumentPointers, resultPointers;
};
} // namespace

llvm::Error DeviceRun::choose(cuda::LibraryUse library) {
  argumentPointers.assign(arguments.size(), nullptr);
  resultPointers.assign(results.size(), nullptr);
  if (!cuda::chooseMatmuls(launches(), library))
    return deviceError();
  argumentPointers.clear();
  resultPointers.clear();
  return llvm::Error::success();
}

llvm::Error DeviceRun::prepare() {
  SmallVector<int64_t> bytes;
  for (const Buffers *buffers : {&arguments, &results})
    for (const auto &buffer : *buffers)
      bytes.push_back(buffer->size());
  if (!memory.allocate(step.getArenaBytes(), bytes.data(), bytes.size()))
    return deviceError();
  for (const auto &argument : arguments) {
    argumentPointers.push_back(memory.buffer(argumentPointers.size()));
    if (!cuda::copyToDevice(argumentPointers.back(), argument->data(),
                            argument->size()))
      return deviceError();
  }
  for (size_t i = arguments.size(); i < bytes.size(); ++i)
    resultPointers.push_back(memory.buffer(i));
  for (auto [argument, result] : llvm::enumerate(step.getDonated()))
    if (result >= 0)
      argumentPointers[argument] = resultPointers[result];
  if (llvm::Error error = donate())
    return error;
  return cuda::wait() ? llvm::Error::success() : deviceError();
}

llvm::Error DeviceRun::donate() {
  for (auto [argument, result] : llvm::enumerate(step.getDonated()))
    if (result >= 0 &&
        !cuda::copyToDevice(resultPointers[result], arguments[argument]->data(),
                            arguments[argument]->size()))
      return deviceError();
  return llvm::Error::success();
}

llvm::Error DeviceRun::runOnce() {
  return cuda::runStep(launches()) ? llvm::Error::success() : deviceError();
}

llvm::Error DeviceRun::capture() {
  return graph.capture(launches()) ? llvm::Error::success() : deviceError();
}

llvm::Error DeviceRun::replay() {
  int64_t nanoseconds = 0;
  return graph.replay(nanoseconds) ? llvm::Error::success() : deviceError();
}

llvm::Error DeviceRun::time(unsigned repeat, int64_t &medianNs) {
  return graph.time(repeat, medianNs) ? llvm::Error::success() : deviceError();
}

llvm::Error DeviceRun::timeKernels(unsigned repeat,
                                   std::vector<int64_t> &kernelNs) {
  kernelNs.assign(graph.getMarkCount() - 1, INT64_MAX);
  std::vector<int64_t> again(kernelNs.size());
  for (unsigned i = 0; i < repeat; ++i) {
    if (llvm::Error error = replay())
      return error;
    if (!graph.readMarks(again.data()))
      return deviceError();
    for (auto [fastest, nanoseconds] : llvm::zip_equal(kernelNs, again))
      fastest = std::min(fastest, nanoseconds);
  }
  return llvm::Error::success();
}

llvm::Error DeviceRun::poison() {
  if (!cuda::poison(memory.arena(), step.getArenaBytes()))
    return deviceError();
  for (auto [pointer, buffer] : llvm::zip_equal(resultPointers, results))
    if (!cuda::poison(pointer, buffer->size()))
      return deviceError();
  return llvm::Error::success();
}

llvm::Error DeviceRun::copyResults() {
  for (auto [pointer, buffer] : llvm::zip_equal(resultPointers, results))
    if (!cuda::copyFromDevice(buffer->data(), pointer, buffer->size()))
      return deviceError();
  return cuda::wait() ? llvm::Error::success() : deviceError();
}

/// Bytes of the device that are in use, by whomever.
static llvm::Error readUsedBytes(int64_t &bytes) {
  cuda::MemoryInfo info;
  if (!cuda::readMemoryInfo(info))
    return deviceError();
  bytes = info.totalBytes - info.freeBytes;
  return llvm::Error::success();
}

llvm::Error ckpt::measureOnDevice(const CompiledStep &step,
                                  const RunOptions &options,
                                  const Signature &signature,
                                  const Buffers &arguments,
                                  Measurement &measurement) {
  auto results = allocate(signature.results);
  if (!results)
    return results.takeError();
  measurement.arenaBytes = step.getArenaBytes();
  measurement.results = std::move(*results);
  measurement.device.emplace();
  if (llvm::Error error = readUsedBytes(measurement.device->usedBefore))
    return error;

  DeviceRun run(step, arguments, measurement.results);
  if (llvm::Error error = run.choose(options.matmulLibrary))
    return error;
  if (llvm::Error error = run.prepare())
    return error;
  measurement.device->bufferBytes = run.getBuffersBytes();
  if (llvm::Error error = run.runOnce())
    return error;
  if (llvm::Error error = run.copyResults())
    return error;
  std::vector<std::vector<char>> firstResults = copyOf(measurement.results);

  if (llvm::Error error = run.capture())
    return error;
  if (llvm::Error error = run.poison())
    return error;
  if (llvm::Error error = run.donate())
    return error;
  if (llvm::Error error = run.replay())
    return error;
  if (llvm::Error error = run.copyResults())
    return error;
  if (auto difference =
          compareBits(signature, measurement.results, firstResults))
    return differingRuns(*difference);
  if (llvm::Error error = run.time(options.repeat, measurement.stepNs))
    return error;
  if (options.timeKernels)
    if (llvm::Error error =
            run.timeKernels(options.repeat, measurement.kernelNs))
      return error;
  return readUsedBytes(measurement.device->usedAfter);
}

llvm::Expected<std::vector<int64_t>>
ckpt::timeKernelsOnDevice(const CompiledStep &step, unsigned repeat,
                          const Buffers &arguments, const Buffers &results) {
  DeviceRun run(step, arguments, results);
  std::vector<int64_t> kernelNs;
  if (llvm::Error error = run.prepare())
    return std::move(error);
  if (llvm::Error error = run.runOnce())
    return std::move(error);
  if (llvm::Error error = run.capture())
    return std::move(error);
  if (llvm::Error error = run.timeKernels(repeat, kernelNs))
    return std::move(error);
  return kernelNs;
}
