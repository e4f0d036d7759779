//===- TensorCores.h - Instructions that multiply bf16 and f16 --*- C++ -*-===//
//
// The option `tensor-cores` of `--ckpt-emit-gpu-kernels` and of the pipeline
// for GPUs, which hands it on.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CONVERSION_TENSORCORES_H
#define CKPT_CONVERSION_TENSORCORES_H

#include "llvm/Support/CommandLine.h"

namespace ckpt {

/// The instructions that multiply bf16 and f16 on a GPU.
enum class TensorCores {
  /// Exact chains in f32: the bits of the CPU.
  None,
  /// A warp at a time; every chip has these.
  Mma,
  /// A warpgroup at a time: sm_90a only.
  Wgmma
};

/// Their names as an option has them.
inline llvm::cl::ValuesClass tensorCoresValues() {
  return llvm::cl::values(
      clEnumValN(TensorCores::None, "none", "none: the bits of the CPU"),
      clEnumValN(TensorCores::Mma, "mma", "mma.sync, a warp at a time"),
      clEnumValN(TensorCores::Wgmma, "wgmma",
                 "wgmma of sm_90a, a warpgroup at a time"));
}

} // namespace ckpt

#endif // CKPT_CONVERSION_TENSORCORES_H
