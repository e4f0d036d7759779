//===- EmulatedTensorMap.cpp - Descriptions of copied boxes ---------------===//

#include "Emulator/EmulatedTensorMap.h"
#include <cstring>

using namespace ckpt;

static constexpr int64_t elementBytes = cuda::tensorElementBytes;

std::string EmulatedTensorMap::make(const char *address, int64_t rank,
                                    const Counts &extents,
                                    const Counts &strides, const Counts &box,
                                    EmulatedTensorMap &map) {
  constexpr int64_t most = int64_t(1) << 32, endBytes = int64_t(1) << 40;
  if (rank < 1 || rank > cuda::mostTensorDims)
    return "expected a tensor map of 1 to 5 dimensions";
  if (reinterpret_cast<uintptr_t>(address) % 16 != 0)
    return "expected the address of a tensor map to be a multiple of 16";
  map = EmulatedTensorMap();
  map.address = address;
  map.rank = rank;
  int64_t below = elementBytes;
  for (int64_t i = 0; i < rank; ++i) {
    if (extents[i] < 1 || extents[i] > most)
      return "expected extents of a tensor map from 1 to 2^32";
    if (box[i] < 1 || box[i] > 256)
      return "expected a box of a tensor map to have 1 to 256 elements in each "
             "dimension";
    if (i > 0 &&
        (strides[i] < 1 || strides[i] % 16 != 0 || strides[i] >= endBytes ||
         strides[i] % below != 0 || strides[i] < below * extents[i - 1]))
      return "expected strides of a tensor map in multiples of 16 bytes, and "
             "of "
             "the stride before, that the dimension before fits in";
    map.strides[i] = below = i > 0 ? strides[i] : elementBytes;
    map.lastIndices[i] = extents[i] - 1;
    map.box[i] = box[i];
  }
  int64_t lineBytes = box[0] * elementBytes;
  if (lineBytes % 16 != 0 || lineBytes > 128)
    return "expected lines of a box in multiples of 16 bytes, 128 at most";
  return "";
}

std::string EmulatedTensorMap::read(const void *parameter,
                                    EmulatedTensorMap &map) {
  std::memcpy(&map, parameter, sizeof(map));
  return map.mark == usualMark
             ? ""
             : "copies a box by a parameter that is no tensor map";
}

void EmulatedTensorMap::write(void *parameter) const {
  std::memcpy(parameter, this, sizeof(*this));
}

int64_t EmulatedTensorMap::getBoxBytes() const {
  int64_t bytes = elementBytes;
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= box[i];
  return bytes;
}

/// Elements of a box follow each other in shared memory, innermost first; the
/// bits of the address that count 128 bytes flip the bits that count 16.
void EmulatedTensorMap::copy(const Counts &corner, char *target) const {
  for (int64_t at = 0; at < getBoxBytes(); at += elementBytes) {
    int64_t rest = at / elementBytes;
    bool isInside = true;
    const char *from = address;
    for (uint32_t i = 0; i < rank; ++i) {
      int64_t index = corner[i] + rest % box[i];
      rest /= box[i];
      isInside &= index >= 0 && index <= lastIndices[i];
      from += index * strides[i];
    }
    auto to = reinterpret_cast<uintptr_t>(target) + at;
    auto *swapped = reinterpret_cast<char *>(to ^ (to >> 7 & 7) << 4);
    if (isInside)
      std::memcpy(swapped, from, elementBytes);
    else
      std::memset(swapped, 0, elementBytes);
  }
}
