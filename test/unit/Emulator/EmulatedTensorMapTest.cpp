//===- EmulatedTensorMapTest.cpp - Boxes of strided tensors ---------------===//

#include "Emulator/EmulatedTensorMap.h"
#include "gtest/gtest.h"

using namespace ckpt;

namespace {

using Counts = EmulatedTensorMap::Counts;

/// A tensor and its boxes, in which each test changes something.
struct Description {
  int64_t misplaced = 0, rank = 3;
  Counts extents = {20, 5, 3}, strides = {2, 48, 240}, box = {64, 8, 1};

  std::string make() const {
    alignas(16) static char memory[32];
    EmulatedTensorMap map;
    return EmulatedTensorMap::make(memory + misplaced, rank, extents, strides,
                                   box, map);
  }
};

TEST(EmulatedTensorMap, HasTheLimitsOfTheManual) {
  EXPECT_EQ(Description().make(), "");
  auto refuses = [](void (*change)(Description &)) {
    Description description;
    change(description);
    EXPECT_NE(description.make(), "");
  };
  refuses([](Description &map) { map.misplaced = 8; });
  refuses([](Description &map) { map.rank = 0; });
  refuses([](Description &map) { map.rank = 6; });
  refuses([](Description &map) { map.extents[2] = 0; });
  refuses([](Description &map) { map.extents[2] = (int64_t(1) << 32) + 1; });
  refuses([](Description &map) { map.strides[2] = int64_t(1) << 40; });
  // No multiple of 16 bytes, or of the stride before; dimensions that overlap.
  refuses([](Description &map) { map.strides[1] = 40; });
  refuses([](Description &map) { map.strides[2] = 256; });
  refuses([](Description &map) { map.strides[2] = 192; });
  refuses([](Description &map) { map.box[1] = 0; });
  refuses([](Description &map) { map.box[1] = 257; });
  // Lines of more than 128 bytes, or of no chunks of 16.
  refuses([](Description &map) { map.box[0] = 72; });
  refuses([](Description &map) { map.box[0] = 60; });
}

TEST(EmulatedTensorMap, CopiesABox) {
  constexpr int64_t columns = 24, rows = 5, planes = 2;
  alignas(16) static uint16_t tensor[planes * rows * columns];
  for (int64_t i = 0; i < planes * rows * columns; ++i)
    tensor[i] = i + 1;
  EmulatedTensorMap made, map;
  // Of lines of 24 elements, 20 belong to the tensor.
  ASSERT_EQ(EmulatedTensorMap::make(reinterpret_cast<char *>(tensor),
                                    /*rank=*/3, {20, rows, planes},
                                    {2, columns * 2, rows * columns * 2},
                                    {64, 8, 1}, made),
            "");
  EXPECT_EQ(made.getBoxBytes(), 64 * 8 * 2);
  char parameter[cuda::tensorMapBytes];
  made.write(parameter);
  ASSERT_EQ(EmulatedTensorMap::read(parameter, map), "");
  alignas(1024) static uint16_t box[8][64];
  map.copy({8, -2, 1}, reinterpret_cast<char *>(box));
  for (int64_t line = 0; line < 8; ++line)
    for (int64_t at = 0; at < 64; ++at) {
      int64_t row = line - 2, column = at + 8;
      bool isInside = row >= 0 && row < rows && column < 20;
      uint16_t expected =
          isInside ? tensor[(rows + row) * columns + column] : 0;
      // Chunk c of line l stands where chunk c xor l would.
      EXPECT_EQ(box[line][((at / 8) ^ line) * 8 + at % 8], expected);
    }
}

TEST(EmulatedTensorMap, RefusesOtherBytes) {
  char parameter[cuda::tensorMapBytes] = {};
  EmulatedTensorMap map;
  EXPECT_EQ(EmulatedTensorMap::read(parameter, map),
            "copies a box by a parameter that is no tensor map");
}

} // namespace
