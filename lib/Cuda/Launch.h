//===- Launch.h - One launch of a kernel ------------------------*- C++ -*-===//
//
// Launches.cpp collects the parts of a launch as lowered code names them;
// TensorMaps.cpp and Matmul.cpp complete or replace it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CUDA_LAUNCH_H
#define CKPT_LIB_CUDA_LAUNCH_H

#include "Driver.h"
#include "ckpt/Cuda/Matmul.h"
#include "ckpt/Cuda/TensorMap.h"

namespace ckpt::cuda {

/// Maps that a launch takes.
struct TensorMaps {
  const TensorMap *maps[mostTensorMaps];
  int count;
};

struct Launch {
  const char *name;
  Function kernel;
  unsigned grid[3], block[3], sharedBytes;
  /// The driver's maps replace the arguments of \p maps.
  void **arguments, **extra;
  TensorMaps maps;
};

/// Asks the driver for \p launch.
bool launchKernel(const Launch &launch);

/// The maps that lowered code said the next launch to take; asked for once.
TensorMaps takeTensorMaps();
/// Makes map \p number of \p launch from the address among its arguments.
bool encodeTensorMap(const Launch &launch, int number,
                     EncodedTensorMap &encoded);

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
