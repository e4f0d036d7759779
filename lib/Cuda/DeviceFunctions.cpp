//===- DeviceFunctions.cpp - The GPU as host code sees it -----------------===//
//
// A file of its own: emitted programs, which link by name, leave it out.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Cuda/DeviceFunctions.h"
#include "ckpt/Cuda/Device.h"

using namespace ckpt::cuda;

const DeviceFunctions ckpt::cuda::gpuFunctions = {
    mgpuModuleLoad,        mgpuModuleLoadJIT,     mgpuModuleUnload,
    mgpuModuleGetFunction, mgpuLaunchKernel,      mgpuStreamCreate,
    mgpuStreamDestroy,     mgpuStreamSynchronize, mgpuMemcpy,
    ckptCudaAddTensorMap,  ckptCudaOfferMatmul,   ckptCudaMark};
