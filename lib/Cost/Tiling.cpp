//===- Tiling.cpp - How contractions are cut into tiles -------------------===//

#include "ckpt/Cost/Tiling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace ckpt;

/// Scratch memory of a task, within the 512 KiB of a kernel's stack.
static constexpr int64_t panelBytes = 32 * 1024;
static constexpr int64_t sumsBytes = 384 * 1024;
/// Rows and steps for which offsets are kept in tables.
static constexpr int64_t mostRows = 512;
static constexpr int64_t mostSteps = 384;
/// Rows of a panel whose sums stay in the nearest cache. Below so many steps,
/// more of the time goes into sums than into products.
static constexpr int64_t nearRows = 192;
static constexpr int64_t fewSteps = 128;

/// So much of the left operand is still in the cache for the next panel, and in
/// the nearest cache for the next tile.
static constexpr int64_t cachedBytes = 1024 * 1024;
static constexpr int64_t nearBytes = 32 * 1024;

/// The smallest even split of \p extent into pieces of at most \p limit.
static int64_t evenPiece(int64_t extent, int64_t limit) {
  return llvm::divideCeil(extent, llvm::divideCeil(extent, limit));
}

/// Whether panels of \p panel columns waste little.
static bool fillsPanels(int64_t columns, int64_t panel) {
  int64_t made = llvm::alignTo(columns, panel);
  return (made - columns) * 8 <= columns;
}

Tiling::Tiling(const ContractionExtents &extents, int64_t sumBytes,
               int64_t targetLanes, bool threads)
    : batch(extents.batch), rows(extents.rows), columns(extents.columns),
      steps(extents.steps) {
  // Sixteen registers of half the width leave room for fewer sums.
  bool isWide = targetLanes >= 16;
  int64_t sumsInRegisters = isWide ? 16 : 12;
  lanes = std::max<int64_t>(4, targetLanes) * 4 / sumBytes;
  vectors = columns > lanes ? 2 : 1;
  // Each step of the left operand is then a line of its own, of which few stay
  // in the nearest cache: wide tiles read fewer.
  bool isNear = rows * steps * sumBytes <= nearBytes;
  if (isWide && extents.leftAlongRows && !isNear &&
      fillsPanels(columns, 4 * lanes)) {
    vectors = 4;
    sumsInRegisters = 24;
  }
  panel = lanes * vectors;
  panels = llvm::divideCeil(columns, panel);
  tileRows = evenPiece(rows, sumsInRegisters / vectors);
  blockSteps =
      evenPiece(steps, std::min(panelBytes / (panel * sumBytes), mostSteps));
  stepBlocks = llvm::divideCeil(steps, blockSteps);
  int64_t most = threads || steps < fewSteps ? nearRows : mostRows;
  blockRows =
      llvm::alignTo(evenPiece(rows, most / tileRows * tileRows), tileRows);
  rowBlocks = llvm::divideCeil(rows, blockRows);
  bool isCached = blockRows * steps * sumBytes <= cachedBytes;
  int64_t roomForPanels = sumsBytes / (blockRows * panel * sumBytes);
  groupPanels = threads || isCached ? 1 : evenPiece(panels, roomForPanels);
  groups = llvm::divideCeil(panels, groupPanels);
}
