//===- TensorMap.h - Operands that a device copies by boxes -----*- C++ -*-===//
//
// Lowered code's description of a parameter that describes a tensor to the
// device (CUtensorMap), from which the launcher makes it with the address of
// the tensor. The compiler writes it as a list of 64-bit numbers, the launcher
// reads it as this structure.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CUDA_TENSORMAP_H
#define CKPT_CUDA_TENSORMAP_H

#include <cstdint>

namespace ckpt::cuda {

/// Bytes of the driver's map, and the multiple at which it begins: 64 by the
/// manual, 128 by the headers of CUDA 13.
constexpr int64_t tensorMapBytes = 128, tensorMapAlignment = 128;
constexpr int64_t mostTensorDims = 5;
/// Bytes of a tensor's elements. They are moved unchanged, so no type is
/// needed.
constexpr int64_t tensorElementBytes = 2;

/// A tensor in memory, of which copies take boxes; elements of a box outside of
/// the tensor are zero. Boxes have rows of 128 bytes at most, whose 16-byte
/// chunks are swapped in shared memory (128-byte swizzle).
struct TensorMap {
  /// Numbers among the kernel's parameters: of the map, and of the address.
  int64_t parameter, operand;
  /// Offset of the first element from the address, in bytes.
  int64_t offset;
  int64_t rank;
  /// Extents of the tensor, innermost first, and strides of its dimensions in
  /// bytes. Elements of the innermost are neighbours.
  int64_t extents[mostTensorDims], strides[mostTensorDims];
  /// Extents of a box.
  int64_t box[mostTensorDims];
};

constexpr int64_t tensorMapWords = sizeof(TensorMap) / sizeof(int64_t);
/// Most maps of a launch: one for each operand of a contraction.
constexpr int mostTensorMaps = 2;

extern "C" {
/// Says that the next launch takes \p map.
void ckptCudaAddTensorMap(const TensorMap *map);
}

} // namespace ckpt::cuda

#endif // CKPT_CUDA_TENSORMAP_H
