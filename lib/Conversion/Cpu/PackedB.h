//===- PackedB.h - A packed panel of the right operand ----------*- C++ -*-===//
//
// The columns of a task and the steps of a block, brought to scratch memory in
// the order in which the tiles of EmitContraction.cpp read them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_CPU_PACKEDB_H
#define CKPT_LIB_CONVERSION_CPU_PACKEDB_H

#include "Conversion/Kernel/ContractionShape.h"
#include "ckpt/Cost/Tiling.h"

namespace ckpt {

class PackedB {
public:
  /// Indices of the batch and the panel, of the block's first step, and how
  /// many steps it has.
  struct Block {
    Value batch, panel, firstStep, steps;
  };

  /// \p packed is a block of steps x a panel.
  PackedB(mlir::ImplicitLocOpBuilder &builder, const ContractionShape &shape,
          const Tiling &tiling, const MemoryMap &memory, Value packed)
      : builder(builder), shape(shape), tiling(tiling), memory(memory),
        flat(memory.lookup(shape.right.tensor)), packed(packed) {}

  void pack(const Block &block);
  /// Vector number \p vector of the columns at \p step of the block.
  Value load(Value step, int64_t vector);

private:
  Value constant(int64_t value);
  bool isTransposed() const;
  bool isInRuns(bool full) const;
  Value loadRuns(const Block &block, Value step, int64_t vector, bool full);
  Value loadLanes(const Block &block, Value step, int64_t vector, bool full);
  Value loadRun(const OperandPoint &start, const LinearIndex &firstLane,
                Value endLane, Value others, IndexEmitter &index);
  void packSteps(const Block &block, bool full);
  void packStep(const Block &block, Value step, bool full);
  void packSquare(const Block &block, Value square, bool full);

  mlir::ImplicitLocOpBuilder &builder;
  const ContractionShape &shape;
  const Tiling &tiling;
  const MemoryMap &memory;
  Value flat, packed;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_CPU_PACKEDB_H
