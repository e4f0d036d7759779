//===- EmulatedTensorMap.h - What copies of boxes go by ---------*- C++ -*-===//
//
// The emulator's own layout of the 128 bytes that a driver makes of a
// description, and what they say where each element of a box comes from and
// goes to. By the words of the manuals, not by the emitter's code.
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

  /// What a driver is asked for: dimensions innermost first; \p strides in
  /// bytes, of which the first is not looked at. Says what a driver would not
  /// allow; empty if there is nothing.
  static std::string make(const char *address, int64_t rank,
                          const Counts &extents, const Counts &strides,
                          const Counts &box, EmulatedTensorMap &map);
  /// Of a parameter; says so if it is none of these.
  static std::string read(const void *parameter, EmulatedTensorMap &map);
  void write(void *parameter) const;

  int64_t getRank() const { return rank; }
  int64_t getBoxBytes() const;
  /// Writes the box at \p corner to \p target in shared memory, of whose
  /// address the low bits are those of the device.
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
