//===- TensorMap.h - Operands that a device copies by boxes -----*- C++ -*-===//
//
// What lowered code says of a parameter that describes a tensor to the device
// (CUtensorMap), so that whoever launches can make it from the address of the
// tensor. The compiler writes it as a list of 64-bit numbers, who launches
// reads it as this structure.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CUDA_TENSORMAP_H
#define CKPT_CUDA_TENSORMAP_H

#include <cstdint>

namespace ckpt::cuda {

/// Of what the driver makes of a description, and what it begins at a multiple
/// of: 64 by the manual, 128 by the headers of CUDA 13.
constexpr int64_t tensorMapBytes = 128, tensorMapAlignment = 128;
constexpr int64_t mostTensorDims = 5;
/// Of a tensor's elements. They are moved as they are, so no more is said.
constexpr int64_t tensorElementBytes = 2;

/// A tensor in memory, of which copies take boxes: what of a box lies outside
/// of the tensor is zero. Boxes have rows of 128 bytes at most, whose 16-byte
/// chunks are swapped in shared memory (128-byte swizzle).
struct TensorMap {
  /// Numbers among the kernel's parameters: of the map, and of the address.
  int64_t parameter, operand;
  /// Of the first element from the address, in bytes.
  int64_t offset;
  int64_t rank;
  /// Of the tensor, innermost first, and from one element of a dimension to the
  /// next, in bytes. Those of the innermost are neighbours.
  int64_t extents[mostTensorDims], strides[mostTensorDims];
  /// Of a box.
  int64_t box[mostTensorDims];
};

constexpr int64_t tensorMapWords = sizeof(TensorMap) / sizeof(int64_t);
/// What a launch takes: one for each operand of a contraction.
constexpr int mostTensorMaps = 2;

extern "C" {
/// Says that the next launch takes \p map.
void ckptCudaAddTensorMap(const TensorMap *map);
}

} // namespace ckpt::cuda

#endif // CKPT_CUDA_TENSORMAP_H
