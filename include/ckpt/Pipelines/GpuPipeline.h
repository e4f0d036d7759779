//===- GpuPipeline.h - From planned kernels to NVVM and launches -*- C++
//-*-===//

#ifndef CKPT_PIPELINES_GPUPIPELINE_H
#define CKPT_PIPELINES_GPUPIPELINE_H

#include "ckpt/Conversion/TensorCores.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/Support/Error.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace ckpt {

struct GpuPipelineOptions
    : public mlir::PassPipelineOptions<GpuPipelineOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("the device, such as sm_90a"),
                           llvm::cl::init("sm_80")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("form of the device module: isa (PTX), bin (by "
                     "ptxas of the CUDA toolkit), fatbin, or llvm (bitcode, "
                     "which the emulator runs)"),
      llvm::cl::init("isa")};
  Option<TensorCores> tensorCores{
      *this, "tensor-cores",
      llvm::cl::desc("instructions that multiply bf16 and f16; other bits "
                     "than the CPU's unless none"),
      llvm::cl::init(TensorCores::None), tensorCoresValues()};
  Option<bool> offerMatmuls{
      *this, "offer-matmuls",
      llvm::cl::desc("let a library run matmuls: calls of ckptCudaOfferMatmul, "
                     "which the runtime library has"),
      llvm::cl::init(false)};
  Option<std::string> toolkit{
      *this, "toolkit",
      llvm::cl::desc("folder of the CUDA toolkit; by default that of "
                     "CUDA_ROOT, CUDA_HOME or CUDA_PATH")};
};

/// Reads \p options from \p text, such as "chip=sm_90a format=bin".
llvm::Error parseGpuOptions(llvm::StringRef text, GpuPipelineOptions &options);

/// Everything between `--ckpt-apply-plan` and LLVM IR of the host with a binary
/// of the device. Memrefs become bare pointers.
void buildGpuPipeline(mlir::OpPassManager &manager,
                      const GpuPipelineOptions &options);

/// Registers `--ckpt-lower-to-nvvm-pipeline`.
void registerGpuPipeline();

} // namespace ckpt

#endif // CKPT_PIPELINES_GPUPIPELINE_H
