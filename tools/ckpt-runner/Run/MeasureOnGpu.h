//===- MeasureOnGpu.h - Runs a compiled step on a GPU -----------*- C++ -*-===//
//
// The GPU's half of MeasureStep.h; calibration times single kernels by it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_MEASUREONGPU_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_MEASUREONGPU_H

#include "Run/MeasureStep.h"

namespace ckpt {

/// Opens the GPU of this machine and returns its name; adds its chip and its
/// tensor cores to \p gpuOptions, options of `--ckpt-lower-to-nvvm-pipeline`,
/// unless they name them.
llvm::Expected<std::string> openGpu(std::string &gpuOptions);

/// Adds to \p gpuOptions the fastest tensor cores of their chip, unless they
/// say which ones, or none.
llvm::Error preferTensorCores(std::string &gpuOptions);

/// The known device (docs/Devices.md) that a GPU of this \p name is, such as
/// h100 for "NVIDIA H100 80GB HBM3"; empty if there is none.
std::string describedGpu(StringRef name);

/// Runs \p step, compiled for the GPU that is open, and fills \p measurement.
/// First launch by launch; then as a graph, in memory full of NaNs, whose
/// results have to be the same bits; then as often as asked.
llvm::Error measureOnDevice(const CompiledStep &step, const RunOptions &options,
                            const Signature &signature,
                            const Buffers &arguments, Measurement &measurement);

/// Runs \p step, compiled to be timed, as a graph as often as asked; the least
/// nanoseconds of each kernel, in order.
llvm::Expected<std::vector<int64_t>>
timeKernelsOnDevice(const CompiledStep &step, unsigned repeat,
                    const Buffers &arguments, const Buffers &results);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_MEASUREONGPU_H
