//===- TensorMaps.cpp - Descriptions of operands for the device -----------===//
//
// A map holds the address of its operand, so it is made for each launch. The
// driver copies it with the other parameters, into graphs too: no memory of the
// device holds any.
//
//===----------------------------------------------------------------------===//

#include "Failure.h"
#include "Launch.h"
#include "OpenDevice.h"

using namespace ckpt::cuda;

static_assert(sizeof(EncodedTensorMap) == tensorMapBytes);
static_assert(alignof(EncodedTensorMap) == tensorMapAlignment);

/// Tensor maps of the next launch.
static TensorMaps added;

void ckpt::cuda::ckptCudaAddTensorMap(const TensorMap *map) {
  if (added.count == mostTensorMaps)
    fail("expected a kernel with at most %d tensor maps", mostTensorMaps);
  else
    added.maps[added.count++] = map;
}

TensorMaps ckpt::cuda::takeTensorMaps() {
  TensorMaps taken = added;
  added = {};
  return taken;
}

bool ckpt::cuda::encodeTensorMap(const Launch &launch, int number,
                                 EncodedTensorMap &encoded) {
  const TensorMap &map = *launch.maps.maps[number];
  uint64_t extents[mostTensorDims], strides[mostTensorDims];
  uint32_t box[mostTensorDims], elementStrides[mostTensorDims];
  for (int i = 0; i < map.rank; ++i) {
    extents[i] = map.extents[i];
    strides[i] = map.strides[i];
    box[i] = map.box[i];
    elementStrides[i] = 1;
  }
  char *address = *static_cast<char **>(launch.arguments[map.operand]);
  // The driver is not told that neighbours are neighbours.
  return check(device.driver->tensorMapEncodeTiled(
                   &encoded, elementOf16Bits, map.rank, address + map.offset,
                   extents, strides + 1, box, elementStrides, notInterleaved,
                   swizzleOf128Bytes, fetchOf128Bytes, fillWithZeros),
               "describe operand %lld of '%s' to the device",
               static_cast<long long>(map.operand), launch.name);
}
