//===- MeasureOnGpu.h - Runs a compiled step on a GPU -----------*- C++ -*-===//
//
// The GPU's half of MeasureStep.h; calibration times single kernels by it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_MEASUREONGPU_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_MEASUREONGPU_H

#include "Run/MeasureStep.h"

namespace ckpt {

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
