//===- NpyFile.h - A tensor in a file of NumPy ------------------*- C++ -*-===//
//
// Plain `.npy` files, like the output of `numpy.save` and the members of an
// `.npz` archive; unlike archives they need neither zlib nor checksums.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CUDA_NPYFILE_H
#define CKPT_LIB_CUDA_NPYFILE_H

#include "ckpt/Cuda/ExecutableMain.h"

namespace ckpt::cuda {

/// Reads \p folder/name.npy, which has to hold the type and shape of
/// \p buffer, into \p data.
bool readNpy(const char *folder, const ProgramBuffer &buffer, void *data);

/// Writes \p folder/name.npy.
bool writeNpy(const char *folder, const ProgramBuffer &buffer,
              const void *data);

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_NPYFILE_H
