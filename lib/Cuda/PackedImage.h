//===- PackedImage.h - Device code as programs carry it ---------*- C++ -*-===//
//
// Emitted programs hold device code packed; `ckptModuleLoadPacked` unpacks it
// when the program starts.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CUDA_PACKEDIMAGE_H
#define CKPT_LIB_CUDA_PACKEDIMAGE_H

#include <cstddef>

namespace ckpt::cuda {

/// Device code, most of which is text: as zlib packs it.
struct PackedImage {
  const void *data;
  size_t packedBytes, bytes;
};

/// The code, to be freed. Null, and a failure, if \p image is damaged.
void *unpack(const PackedImage &image);

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_PACKEDIMAGE_H
