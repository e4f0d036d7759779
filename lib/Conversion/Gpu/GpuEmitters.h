//===- GpuEmitters.h - One emitter for each form of kernel ------*- C++ -*-===//
//
// `--ckpt-emit-gpu-kernels` picks the emitter by a kernel's anchor and by the
// shape of its contraction. Each writes the code of one thread and says how
// many threads run it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_GPUEMITTERS_H
#define CKPT_LIB_CONVERSION_GPU_GPUEMITTERS_H

#include "Conversion/Gpu/GpuThread.h"
#include "ckpt/Conversion/TensorCores.h"

namespace ckpt {

/// One thread per vector of neighbours in the outputs, or per element.
FailureOr<LaunchSize> emitGpuElementwise(KernelCode &code, GpuThread &thread);
/// The same through shared memory: the outer dimension of the outputs along
/// which reads are of neighbours, if they are not along the innermost one.
FailureOr<std::optional<unsigned>>
findTransposedDim(KernelCode &code, GpuThread &thread,
                  mlir::RankedTensorType type);
FailureOr<LaunchSize> emitGpuTransposed(KernelCode &code,
                                        mlir::RankedTensorType type,
                                        unsigned dim, GpuThread &thread);
/// One thread per output element, or one per running result (ReductionOrder.h).
FailureOr<LaunchSize> emitGpuReduction(KernelCode &code, GpuThread &thread);
/// Tiles of many outputs per thread, or squares of 16 x 16 with one; narrow
/// operands on \p tensorCores.
FailureOr<LaunchSize> emitGpuContraction(KernelCode &code, GpuThread &thread,
                                         TensorCores tensorCores);
/// bf16 and f16 on tensor cores (SharedMemoryStaging.h), in an order of their
/// own: a warp or a warpgroup at a time.
FailureOr<LaunchSize>
emitGpuMma(KernelCode &code, const ContractionShape &shape, GpuThread &thread);
FailureOr<LaunchSize> emitGpuWgmma(KernelCode &code,
                                   const ContractionShape &shape,
                                   GpuThread &thread);
/// The tiles, in f32, also for long sums; some sides are too short for them.
bool fitsGpuRegisterTiles(const ContractionShape &shape, bool isLong);
FailureOr<LaunchSize> emitGpuRegisterTiles(KernelCode &code,
                                           const ContractionShape &shape,
                                           GpuThread &thread);

/// One block for a kernel that is bufferized, not made element by element; one
/// thread where it has memory of its own.
FailureOr<LaunchSize> emitGpuOpaque(mlir::gpu::GPUFuncOp function);
/// Such a kernel by the threads of many blocks, if each element that it writes
/// depends on no other: a scatter, a scan of elements. Nothing otherwise.
FailureOr<std::optional<LaunchSize>>
emitGpuOwned(mlir::gpu::GPUFuncOp function);
/// Makes the counters of \p parallel, whose loops start at 0 and advance by 1,
/// those of its iteration \p number.
void replaceCounters(mlir::scf::ParallelOp parallel, Value number,
                     mlir::ImplicitLocOpBuilder &builder);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_GPUEMITTERS_H
