//===- Gpu.h - The GPU that steps are compiled for --------------*- C++ -*-===//
//
// ckpt-runner and the engine open the GPU of this machine by it and compile for
// its chip.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_GPU_H
#define CKPT_RUNTIME_GPU_H

#include "llvm/Support/Error.h"
#include <string>

namespace ckpt {

/// Opens the GPU of this machine and returns its name; adds its chip and its
/// tensor cores to \p gpuOptions, options of `--ckpt-lower-to-nvvm-pipeline`,
/// unless they name them.
llvm::Expected<std::string> openGpu(std::string &gpuOptions);

/// Adds to \p gpuOptions the fastest tensor cores of their chip, unless they
/// say which ones, or none.
llvm::Error preferTensorCores(std::string &gpuOptions);

} // namespace ckpt

#endif // CKPT_RUNTIME_GPU_H
