//===- GpuAccumulators.h - A thread's part of a contraction -----*- C++ -*-===//
//
// Inits and epilogue of a thread that makes many results: in a loop over them,
// so that code for one is emitted once. LLVM unrolls a short loop, and then
// removes its memory.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_GPUACCUMULATORS_H
#define CKPT_LIB_CONVERSION_GPU_GPUACCUMULATORS_H

#include "Conversion/Gpu/GpuThread.h"
#include "Conversion/Kernel/ContractionShape.h"
#include <functional>

namespace ckpt {

/// Threads of a block lay their sums into shared memory, so that neighbouring
/// threads make neighbouring outputs, in rows, as many at a time as an access
/// takes.
struct SumExchange {
  const Corner &corner;
  int64_t side, threads;
  /// Number of the thread in its block.
  LinearIndex inBlock;
};

class GpuAccumulators {
public:
  /// The row and first column of a vector of results from its number.
  using Place = std::function<std::pair<LinearIndex, LinearIndex>(
      const LinearIndex &slot, IndexEmitter &index)>;

  /// For \p slots vectors of \p width neighbours in a row each.
  GpuAccumulators(KernelCode &code, const ContractionShape &shape,
                  GpuThread &thread, int64_t slots, int64_t width);

  /// Makes the inits of all vectors, adds to them by \p add, and makes and
  /// stores the outputs. \p place may use the values that \p emitter knows.
  /// Outputs are made by the threads that have the sums, or if there is an
  /// \p exchange, by others.
  LogicalResult
  emit(const ElementEmitter &emitter, const LinearIndex &batch,
       const Place &place,
       llvm::function_ref<SmallVector<Value>(SmallVector<Value>)> add,
       const SumExchange *exchange = nullptr);

  /// Elements of all vectors, one after the other, and back.
  SmallVector<Value> split(mlir::ValueRange vectors);
  SmallVector<Value> join(mlir::ValueRange elements);

  mlir::VectorType getVectorType() const;
  int64_t getSlots() const { return slots; }

private:
  using EmitPoint = llvm::function_ref<LogicalResult(
      ElementEmitter &, ArrayRef<LinearIndex>, Value slot, Value lane)>;
  struct Range {
    const ElementEmitter &emitter;
    const LinearIndex &batch;
    const Place &place;
  };

  FailureOr<SmallVector<Value>> emitInits(const Range &range);
  Value uniformInit(const Range &range);
  LogicalResult emitResults(const Range &range, mlir::ValueRange sums);
  Value lay(const SumExchange &exchange, const Range &range,
            mlir::ValueRange sums);
  LogicalResult emitExchanged(const SumExchange &exchange, const Range &range,
                              mlir::ValueRange sums);
  LogicalResult
  emitInside(ElementEmitter &inside, const LinearIndex &batch,
             const LinearIndex &row, const LinearIndex &column,
             llvm::function_ref<LogicalResult(ArrayRef<LinearIndex>)> emit);
  LogicalResult emitOutput(ElementEmitter &inside, ArrayRef<LinearIndex> at,
                           Value sum);
  Value memoryOfThread();
  LogicalResult forEach(const Range &range, EmitPoint emitPoint);
  LogicalResult emitPoint(const Range &range, Value slot, Value lane,
                          EmitPoint emitPoint);
  Value load(Value slot, Value lane);
  void store(Value sum, Value slot, Value lane);

  KernelCode &code;
  mlir::linalg::LinalgOp op;
  const ContractionShape &shape;
  GpuThread &thread;
  mlir::ImplicitLocOpBuilder &builder;
  int64_t slots, width;
  Value memory;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_GPUACCUMULATORS_H
