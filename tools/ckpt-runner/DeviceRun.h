//===- DeviceRun.h - A compiled step on a GPU -------------------*- C++ -*-===//

#ifndef CKPT_TOOLS_CKPTRUNNER_DEVICERUN_H
#define CKPT_TOOLS_CKPTRUNNER_DEVICERUN_H

#include "Variant.h"

namespace ckpt {

/// Opens the GPU of this machine and returns its name; adds its chip to
/// \p gpuOptions, options of `--ckpt-lower-to-nvvm-pipeline`, unless they name
/// one.
llvm::Expected<std::string> openGpu(std::string &gpuOptions);

/// Runs \p step, compiled for the GPU that is open, and fills \p measurement.
/// First launch by launch; then as a graph, in memory full of NaNs, whose
/// results have to be the same bits; then as often as asked.
llvm::Error measureOnDevice(const CompiledStep &step, const RunOptions &options,
                            const Signature &signature,
                            const Buffers &arguments, Measurement &measurement);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_DEVICERUN_H
