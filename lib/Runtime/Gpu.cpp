//===- Gpu.cpp - The GPU that steps are compiled for ----------------------===//

#include "ckpt/Runtime/Gpu.h"
#include "ckpt/Cuda/Device.h"
#include "ckpt/Pipelines/GpuPipeline.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ckpt;

static llvm::Error deviceError() {
  return llvm::createStringError(cuda::failure());
}

/// The chip of a device. Warpgroups belong to sm_90a and no later chip.
static std::string chipOf(const cuda::DeviceInfo &info) {
  bool hasWarpgroups = info.major == 9 && info.minor == 0;
  return llvm::formatv("sm_{0}{1}", 10 * info.major + info.minor,
                       hasWarpgroups ? "a" : "")
      .str();
}

llvm::Error ckpt::preferTensorCores(std::string &gpuOptions) {
  GpuPipelineOptions options;
  if (llvm::Error error = parseGpuOptions(gpuOptions, options))
    return error;
  if (!options.tensorCores.hasValue())
    gpuOptions += options.chip.getValue() == "sm_90a" ? " tensor-cores=wgmma"
                                                      : " tensor-cores=mma";
  return llvm::Error::success();
}

llvm::Expected<std::string> ckpt::openGpu(std::string &gpuOptions) {
  GpuPipelineOptions options;
  if (llvm::Error error = parseGpuOptions(gpuOptions, options))
    return std::move(error);
  cuda::DeviceInfo info;
  if (!cuda::openDevice(info))
    return deviceError();
  if (!options.chip.hasValue())
    gpuOptions += " chip=" + chipOf(info);
  else if (!cuda::checkChip(info, options.chip.getValue().c_str()))
    return deviceError();
  if (llvm::Error error = preferTensorCores(gpuOptions))
    return std::move(error);
  return std::string(info.name);
}
