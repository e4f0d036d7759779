//===- OfferLibraryMatmul.h - Kernels that cuBLASLt could run ---*- C++ -*-===//
//
// `--ckpt-emit-gpu-kernels` asks it for each kernel. The kernel is emitted all
// the same; lib/Cuda decides at run time who computes it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_OFFERLIBRARYMATMUL_H
#define CKPT_LIB_CONVERSION_GPU_OFFERLIBRARYMATMUL_H

#include "Conversion/Kernel/KernelCode.h"
#include "ckpt/Cuda/Matmul.h"

namespace ckpt {

/// How a matmul library would compute all that \p code does, if it can: a
/// contraction that starts at zero, of operands that lie in memory as matrices
/// with one stride between rows and at most two between batches, also seen
/// through views. A kernel that also does something else has no such form: its
/// result would have to wait in memory that no plan knows of.
std::optional<cuda::MatmulShape> matchLibraryMatmul(KernelCode &code);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_OFFERLIBRARYMATMUL_H
