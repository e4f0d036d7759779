//===- PaddedA.h - The left operand behind padding --------------*- C++ -*-===//
//
// Rows of images with borders, for the tiles of EmitContraction.cpp. Finding
// out whether an element stands in memory would cost more than the work on it.
// Some steps of a tile's rows are therefore brought to a corner of scratch
// memory, as many neighbours at a time as are inside or outside together: along
// the steps in the convolutions of a forward pass, along the rows in the
// gradients of filters. The coordinate of a border is a sum of two numbers, of
// its row and of its step, which stand in tables.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_CPU_PADDEDA_H
#define CKPT_LIB_CONVERSION_CPU_PADDEDA_H

#include "Conversion/Kernel/ContractionShape.h"
#include "ckpt/Cost/Tiling.h"

namespace ckpt {

/// Elements next to each other, inside or outside together.
struct Neighbours {
  enum { None, Steps, Rows } along;
  /// Steps that are brought at a time.
  int64_t steps;
  /// Steps that are inside or outside together, and their stride.
  int64_t run, stride;
};
Neighbours findNeighbours(const ContractionShape &shape, const Tiling &tiling);

/// Fits \p tiling to the memory and the neighbours of a padded left operand;
/// \p isLong if blocks of steps are chunks of long sums.
void fitToBorders(Tiling &tiling, const ContractionShape &shape, bool isLong);

/// The rows of a tile: their numbers in the block, and where they take the left
/// operand, which is in \p flat.
struct TileRows {
  ArrayRef<Value> numbers, offsets;
  Value flat;
};

class PaddedA {
public:
  /// Makes scratch memory.
  using Scratch =
      llvm::function_ref<Value(ArrayRef<int64_t> extents, mlir::Type)>;
  /// \p stepOffsets says where steps take the operand.
  PaddedA(mlir::ImplicitLocOpBuilder &builder, const ContractionShape &shape,
          const Tiling &tiling, Value stepOffsets, Scratch scratch);

  /// Steps that are brought at a time, and whether there always are so many.
  int64_t cornerSteps() const { return neighbours.steps; }
  bool isAlwaysFull() const;
  /// Puts row \p row of the block, number \p global of \p batch, into tables.
  void setRow(Value row, Value global, Value batch);
  void setStep(Value step, Value global);
  /// Whether all that would be brought from \p step on stands in memory, so
  /// that it can be read there; null if that takes too long to find out.
  Value isInside(const TileRows &rows, Value step);
  /// Brings \p count steps from \p step on.
  void bring(const TileRows &rows, Value step, Value count);
  /// The element of the tile's row number \p inTile at \p step of the corner.
  Value load(int64_t inTile, Value step);

private:
  /// The tables of a border.
  struct Table {
    size_t border;
    Value ofRows, ofSteps;
  };

  Value constant(int64_t value);
  void set(Value table, Value at, const LinearIndex &coordinate,
           IndexEmitter &index);
  void store(Value elements, Value line, int64_t first);
  Value insideOne(Value row, Value step);
  Value insideLanes(Value row, Value step);
  void bringRow(const TileRows &rows, int64_t inTile, Value step);
  void bringRun(const TileRows &rows, Value step, Value inCorner);
  void gatherRow(const TileRows &rows, int64_t inTile, Value step);

  mlir::ImplicitLocOpBuilder &builder;
  const ContractionShape &shape;
  const Tiling &tiling;
  Neighbours neighbours;
  Value stepOffsets;
  /// Lines of the elements that are brought together.
  Value corner;
  SmallVector<Table, 2> tables;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_CPU_PADDEDA_H
