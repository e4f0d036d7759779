//===- DeviceRun.cpp - A compiled step on a GPU ---------------------------===//

#include "DeviceRun.h"
#include "Compare.h"
#include "ckpt/Cuda/Device.h"
#include "ckpt/Pipelines/GpuPipeline.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ckpt;

static llvm::Error deviceError() {
  return llvm::createStringError(cuda::failure());
}

llvm::Expected<std::string> ckpt::openGpu(std::string &gpuOptions) {
  GpuPipelineOptions options;
  if (llvm::Error error = parseGpuOptions(gpuOptions, options))
    return std::move(error);
  cuda::DeviceInfo info;
  if (!cuda::openDevice(info))
    return deviceError();
  if (!options.chip.hasValue())
    gpuOptions +=
        llvm::formatv(" chip=sm_{0}", 10 * info.major + info.minor).str();
  else if (!cuda::checkChip(info, options.chip.getValue().c_str()))
    return deviceError();
  return std::string(info.name);
}

namespace {
/// A compiled step with its memory on the device.
class DeviceRun {
public:
  DeviceRun(const CompiledStep &step, const Buffers &arguments,
            const Buffers &results)
      : step(step), arguments(arguments), results(results) {}

  /// Allocates, and copies arguments to the device.
  llvm::Error prepare(Measurement &measurement);
  llvm::Error runOnce();
  llvm::Error capture();
  llvm::Error replay();
  llvm::Error time(unsigned repeat, int64_t &medianNs);
  /// Makes all that the step writes unusable.
  llvm::Error poison();
  llvm::Error copyResults();

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

llvm::Error DeviceRun::prepare(Measurement &measurement) {
  SmallVector<int64_t> bytes;
  for (const Buffers *buffers : {&arguments, &results})
    for (const auto &buffer : *buffers)
      bytes.push_back(buffer->size());
  if (!memory.allocate(step.getArenaBytes(), bytes.data(), bytes.size()))
    return deviceError();
  measurement.device->bufferBytes = memory.getBuffersBytes();
  for (const auto &argument : arguments) {
    argumentPointers.push_back(memory.buffer(argumentPointers.size()));
    if (!cuda::copyToDevice(argumentPointers.back(), argument->data(),
                            argument->size()))
      return deviceError();
  }
  for (size_t i = arguments.size(); i < bytes.size(); ++i)
    resultPointers.push_back(memory.buffer(i));
  return cuda::wait() ? llvm::Error::success() : deviceError();
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
  if (llvm::Error error = run.prepare(measurement))
    return error;
  if (llvm::Error error = run.runOnce())
    return error;
  if (llvm::Error error = run.copyResults())
    return error;
  std::vector<std::vector<char>> firstResults = copyOf(measurement.results);

  if (llvm::Error error = run.capture())
    return error;
  if (llvm::Error error = run.poison())
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
  return readUsedBytes(measurement.device->usedAfter);
}
