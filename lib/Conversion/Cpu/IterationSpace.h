//===- IterationSpace.h - Loops over the elements of a shape ----*- C++ -*-===//
//
// Rows of neighbours: the innermost dimension in vectors, everything around it
// as one counter that tasks share out among themselves.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_CPU_ITERATIONSPACE_H
#define CKPT_LIB_CONVERSION_CPU_ITERATIONSPACE_H

#include "Conversion/Kernel/KernelCode.h"

namespace ckpt {

class IterationSpace {
public:
  /// \p workPerElement decides how many rows make a task.
  IterationSpace(ArrayRef<int64_t> shape, int64_t lanes,
                 int64_t workPerElement);

  int64_t getTasks() const { return tasks; }

  /// Calls \p emitPoint in the innermost loops of a task, with an emitter of
  /// several lanes in the main loop and of one in the remainder.
  LogicalResult emitLoops(
      TaskTarget &target,
      llvm::function_ref<LogicalResult(ElementEmitter &, ArrayRef<LinearIndex>)>
          emitPoint) const;

private:
  SmallVector<LinearIndex> coordinates(ElementEmitter &emitter,
                                       const LinearIndex &row,
                                       const LinearIndex &inner) const;
  LogicalResult emitRow(
      TaskTarget &target, Value row,
      llvm::function_ref<LogicalResult(ElementEmitter &, ArrayRef<LinearIndex>)>
          emitPoint) const;

  SmallVector<int64_t> shape;
  int64_t lanes;
  /// Dimension along which lanes lie; -1: along the whole flattened shape.
  int64_t innerDim = -1;
  int64_t inner = 1;
  /// Rows that the inner dimension itself is cut into.
  int64_t blocks = 1;
  int64_t rows = 1;
  int64_t rowsPerTask = 1;
  int64_t tasks = 1;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_CPU_ITERATIONSPACE_H
