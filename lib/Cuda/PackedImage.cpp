//===- PackedImage.cpp - Device code as programs carry it -----------------===//

#include "PackedImage.h"
#include "Failure.h"
#include <cstdlib>
#include <zlib.h>

using namespace ckpt::cuda;

void *ckpt::cuda::unpack(const PackedImage &image) {
  void *code = std::malloc(image.bytes);
  if (!code) {
    fail("cannot unpack the kernels: out of memory of the host");
    return nullptr;
  }
  uLongf bytes = image.bytes;
  if (uncompress(static_cast<Bytef *>(code), &bytes,
                 static_cast<const Bytef *>(image.data),
                 image.packedBytes) == Z_OK &&
      bytes == image.bytes)
    return code;
  std::free(code);
  fail("cannot unpack the kernels: this program is damaged");
  return nullptr;
}
