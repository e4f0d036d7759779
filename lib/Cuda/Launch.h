//===- Launch.h - One launch of a kernel ------------------------*- C++ -*-===//

#ifndef CKPT_LIB_CUDA_LAUNCH_H
#define CKPT_LIB_CUDA_LAUNCH_H

#include "Driver.h"
#include "ckpt/Cuda/Matmul.h"

namespace ckpt::cuda {

struct Launch {
  const char *name;
  Function kernel;
  unsigned grid[3], block[3], sharedBytes;
  void **arguments, **extra;
};

/// Asks the driver for \p launch.
bool launchKernel(const Launch &launch);

/// The matmul that lowered code said the next launch to be, if any; asked for
/// once.
const MatmulShape *takeOffer();
/// Measures \p launch and the library, if the shape is new.
void chooseMatmul(const MatmulShape &shape, const Launch &launch);
/// Lets the library compute \p shape instead of \p launch if it was chosen;
/// whether it was, also if it then failed.
bool runByLibrary(const MatmulShape &shape, const Launch &launch);

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_LAUNCH_H
