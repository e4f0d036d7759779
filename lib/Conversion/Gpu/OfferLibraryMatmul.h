//===- OfferLibraryMatmul.h - Kernels that cuBLASLt could run ---*- C++ -*-===//
//
// `--ckpt-emit-gpu-kernels` asks it for each kernel. The kernel is emitted all
// the same; lib/Cuda chooses at run time.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_OFFERLIBRARYMATMUL_H
#define CKPT_LIB_CONVERSION_GPU_OFFERLIBRARYMATMUL_H

#include "Conversion/Kernel/KernelCode.h"
#include "ckpt/Cuda/Matmul.h"

namespace ckpt {

/// The form in which a matmul library would compute all of \p code, if it can:
/// a contraction that starts at zero, of operands that lie in memory as
/// matrices with one stride between rows and at most two between batches, also
/// seen through views. A kernel with other ops has no such form: its result
/// would have to wait in unplanned memory.
std::optional<cuda::MatmulShape> matchLibraryMatmul(KernelCode &code);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_OFFERLIBRARYMATMUL_H
