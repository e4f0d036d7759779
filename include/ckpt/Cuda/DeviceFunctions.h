//===- DeviceFunctions.h - A device as host code sees it --------*- C++ -*-===//
//
// The host code of a step calls a device by the functions that
// `--gpu-to-llvm` and our own lowering name. Two devices have them: a GPU
// (lib/Cuda) and the emulator (lib/Emulator). lib/Runtime hands one of them to
// the JIT; programs that ckpt-runner emits link those of the GPU by name.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CUDA_DEVICEFUNCTIONS_H
#define CKPT_CUDA_DEVICEFUNCTIONS_H

#include "ckpt/Cuda/Matmul.h"
#include "ckpt/Cuda/TensorMap.h"
#include <cstddef>
#include <cstdint>

namespace ckpt::cuda {

/// Members are called as the functions are (Device.h). Null: host code for this
/// device never calls it.
struct DeviceFunctions {
  void *(*mgpuModuleLoad)(void *image, size_t bytes);
  void *(*mgpuModuleLoadJIT)(void *image, int level);
  void (*mgpuModuleUnload)(void *module);
  void *(*mgpuModuleGetFunction)(void *module, const char *name);
  void (*mgpuLaunchKernel)(void *function, intptr_t gridX, intptr_t gridY,
                           intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                           intptr_t blockZ, int32_t sharedBytes, void *stream,
                           void **arguments, void **extra, size_t count);
  void *(*mgpuStreamCreate)();
  void (*mgpuStreamDestroy)(void *stream);
  void (*mgpuStreamSynchronize)(void *stream);
  void (*mgpuMemcpy)(void *to, void *from, size_t bytes, void *stream);
  void (*ckptCudaAddTensorMap)(const TensorMap *map);
  void (*ckptCudaOfferMatmul)(const MatmulShape *shape);
  /// Null: the JIT has the clock of the host.
  void (*ckptCudaMark)();
};

/// The device functions of the GPU of this machine.
extern const DeviceFunctions gpuFunctions;

} // namespace ckpt::cuda

#endif // CKPT_CUDA_DEVICEFUNCTIONS_H
