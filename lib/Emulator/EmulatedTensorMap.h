//===- EmulatedTensorMap.h - Descriptions of copied boxes -------*- C++ -*-===//
//
// The emulator's own layout of the 128 bytes that a driver makes of a
// description: the source and the target of each element of a box. It follows
// the words of the manuals, not the emitter's code.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EMULATOR_EMULATEDTENSORMAP_H
#define CKPT_LIB_EMULATOR_EMULATEDTENSORMAP_H

#include "ckpt/Cuda/TensorMap.h"
#include <array>
#include <string>

namespace ckpt {

/// A tensor of 16-bit elements and its boxes, whose lines of at most 128 bytes
/// are swizzled.
class EmulatedTensorMap {
public:
  using Counts = std::array<int64_t, cuda::mostTensorDims>;

  /// Makes a map as a driver does: dimensions innermost first; \p strides in
  /// bytes, without the first one. Returns the fault that a driver would not
  /// allow; empty without a fault.
  static std::string make(const char *address, int64_t rank,
                          const Counts &extents, const Counts &strides,
                          const Counts &box, EmulatedTensorMap &map);
  /// Reads the map of a parameter; returns the fault if it is none of these.
  static std::string read(const void *parameter, EmulatedTensorMap &map);
  void write(void *parameter) const;

  int64_t getRank() const { return rank; }
  int64_t getBoxBytes() const;
  /// Writes the box at \p corner to \p target in shared memory, whose address
  /// has the low bits of the device's.
  void copy(const Counts &corner, char *target) const;

private:
  static constexpr uint64_t usualMark = 0x70616d2d74706b63;

  uint64_t mark = usualMark;
  const char *address;
  uint32_t rank;
  std::array<uint16_t, cuda::mostTensorDims> box;
  std::array<uint32_t, cuda::mostTensorDims> lastIndices;
  std::array<int64_t, cuda::mostTensorDims> strides;
};

static_assert(sizeof(EmulatedTensorMap) <= cuda::tensorMapBytes);

} // namespace ckpt

#endif // CKPT_LIB_EMULATOR_EMULATEDTENSORMAP_H
