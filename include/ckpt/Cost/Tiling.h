//===- Tiling.h - How contractions are cut into tiles -----------*- C++ -*-===//
//
// Shared by the generated code (lib/Conversion) and by its predicted costs
// (Work.h).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_COST_TILING_H
#define CKPT_COST_TILING_H

#include <cstdint>

namespace ckpt {

/// Extents of out[batch, row, column] += left[batch, row, step] *
/// right[batch, step, column].
struct ContractionExtents {
  int64_t batch, rows, columns, steps;
  /// Whether rows are neighbours in the left operand, and steps are not.
  bool leftAlongRows = false;
};

/// Whether a contraction whose operands lie along its rows and columns, as in
/// the gradient of a weight, is better made as its transpose. A tile reads its
/// rows of the left operand once per panel, and those of the wider operand lie
/// further apart from step to step. Vectors have \p lanes sums.
inline bool prefersTranspose(const ContractionExtents &extents, int64_t lanes) {
  return lanes == 16 && extents.rows > extents.columns;
}

/// Sizes of the tiles; figures in docs/Rationale/CpuLowering.md.
struct Tiling {
  /// For sums of \p sumBytes on a target with vectors of \p targetLanes
  /// elements of 32 bits. Tasks for threads are many and small, on one thread
  /// few and large.
  Tiling(const ContractionExtents &extents, int64_t sumBytes,
         int64_t targetLanes, bool threads = false);

  int64_t batch, rows, columns, steps;
  /// Elements of one vector of sums, vectors of a panel's row.
  int64_t lanes, vectors;
  /// Rows of the register tile.
  int64_t tileRows;
  /// Columns of a panel, rows of a block, steps of a block of the reduction.
  int64_t panel, blockRows, blockSteps;
  int64_t rowBlocks, panels, stepBlocks;
  /// A task makes so many panels of a block of rows, one block of steps after
  /// another: as many as its sums have room for, where the block of rows does
  /// not stay in the cache from one panel to the next.
  int64_t groupPanels, groups;
};

} // namespace ckpt

#endif // CKPT_COST_TILING_H
