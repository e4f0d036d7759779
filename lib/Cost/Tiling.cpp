//===- Tiling.cpp - How contractions are cut into tiles -------------------===//

#include "ckpt/Cost/Tiling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ckpt;

/// Scratch memory of a task, within the 64 KiB of a kernel's stack.
static constexpr int64_t panelBytes = 32 * 1024;
static constexpr int64_t sumsBytes = 24 * 1024;
/// Rows and steps for which offsets are kept in tables.
static constexpr int64_t tableEntries = 384;

/// So much of the left operand comes from a cache again.
static constexpr int64_t cachedBytes = 8 * 1024 * 1024;

/// Bytes of the left operand that a task reads for every panel.
static int64_t blockBytes(int64_t rows, int64_t steps, int64_t sumBytes) {
  return std::min<int64_t>(rows, 192) * steps * sumBytes;
}

/// The smallest even split of \p extent into pieces of at most \p limit.
static int64_t evenPiece(int64_t extent, int64_t limit) {
  return llvm::divideCeil(extent, llvm::divideCeil(extent, limit));
}

Tiling::Tiling(const ContractionExtents &extents, int64_t sumBytes,
               int64_t targetLanes, bool mayWiden)
    : batch(extents.batch), rows(extents.rows), columns(extents.columns),
      steps(extents.steps) {
  // Sixteen registers of half the width leave room for fewer sums.
  bool wide = targetLanes >= 16;
  lanes = std::max<int64_t>(4, targetLanes) * 4 / sumBytes;
  vectors = columns > lanes ? 2 : 1;
  int64_t sumsInRegisters = wide ? 16 : 12;
  if (mayWiden && wide && columns % (4 * lanes) == 0 &&
      blockBytes(rows, steps, sumBytes) > cachedBytes) {
    vectors = 4;
    sumsInRegisters = 24;
  }
  panel = lanes * vectors;
  tileRows = evenPiece(rows, sumsInRegisters / vectors);
  blockSteps =
      evenPiece(steps, std::min(panelBytes / (panel * sumBytes), tableEntries));
  int64_t mostRows = std::min(sumsBytes / (panel * sumBytes), tableEntries);
  blockRows =
      llvm::alignTo(evenPiece(rows, mostRows / tileRows * tileRows), tileRows);
  rowBlocks = llvm::divideCeil(rows, blockRows);
  panels = llvm::divideCeil(columns, panel);
  stepBlocks = llvm::divideCeil(steps, blockSteps);
}
