//===- CpuPipeline.h - From planned kernels to the LLVM dialect -*- C++ -*-===//

#ifndef CKPT_PIPELINES_CPUPIPELINE_H
#define CKPT_PIPELINES_CPUPIPELINE_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace ckpt {

struct CpuPipelineOptions
    : public mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<int64_t> lanes{
      *this, "lanes",
      llvm::cl::desc("number of 32-bit elements of a vector of the target"),
      llvm::cl::init(16)};
  Option<bool> threads{
      *this, "threads",
      llvm::cl::desc("run large kernels on the threads of OpenMP"),
      llvm::cl::init(true)};
};

/// Everything between `--ckpt-apply-plan` and LLVM IR. Memrefs become bare
/// pointers.
void buildCpuPipeline(mlir::OpPassManager &manager,
                      const CpuPipelineOptions &options);

/// Registers `--ckpt-lower-to-cpu-pipeline`.
void registerCpuPipeline();

} // namespace ckpt

#endif // CKPT_PIPELINES_CPUPIPELINE_H
