//===- ReductionOrder.h - One output element of a reduction -----*- C++ -*-===//
//
// The order in which elements are combined depends on the op alone: its maps,
// shapes and types. A reduction therefore gives the same bits with any fusion,
// on any number of threads, with any width of vectors, and on a GPU.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_REDUCTIONORDER_H
#define CKPT_LIB_CONVERSION_KERNEL_REDUCTIONORDER_H

#include "Conversion/Kernel/ContractionBody.h"
#include "Conversion/Kernel/KernelCode.h"

namespace ckpt {

/// Running results of a reduction along the contiguous dimension: element j
/// belongs to number j mod 16. Part of the order, not of the target.
inline constexpr int64_t partialResults = 16;

/// The facts of a reduction before any code is emitted.
struct Reduction {
  mlir::linalg::LinalgOp op;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> reducedDims;
  /// The op that combines two partial results, if they can be kept apart.
  Operation *combiner = nullptr;
  mlir::TypedAttr neutral;
  /// The reduced dimension that 16 running results lie along, if it is
  /// contiguous in memory.
  std::optional<unsigned> partialDim;
  /// For few outputs of many elements: equal parts of the reduced dimension
  /// `chunkDim`, reduced each by itself and combined in order.
  int64_t chunks = 1;
  unsigned chunkDim = 0;

  /// Whether the init comes last, after results that start at `neutral`.
  bool isSplit() const { return partialDim || chunks > 1; }
  /// Set if the body multiplies and adds.
  std::optional<ContractionBody> contraction;
};

/// Emits the reduction of one output element (or of neighbours in lanes).
class ReductionEmitter {
public:
  ReductionEmitter(const Reduction &reduction,
                   mlir::ImplicitLocOpBuilder &builder, int64_t partialLanes)
      : reduction(reduction), builder(builder), partialLanes(partialLanes) {}

  /// The results for the parallel loops \p loops; empty on errors.
  SmallVector<Value> emit(ElementEmitter &emitter, ArrayRef<LinearIndex> loops);

  /// The same by hand, for threads that each make a part of a split reduction
  /// (scalars only): running result number \p partial of chunk number \p chunk,
  /// or all of the chunk if it has only one.
  Value emitPart(ElementEmitter &emitter, ArrayRef<LinearIndex> loops,
                 const LinearIndex &chunk, Value partial);
  Value combine(Value left, Value right);
  /// The results of \p count chunks in order, as \p load gives them.
  Value combineChunks(int64_t count, llvm::function_ref<Value(Value)> load);
  /// The init combined with \p sum of the running results.
  Value combineWithInit(ElementEmitter &emitter, ArrayRef<LinearIndex> loops,
                        Value sum);

private:
  using Body = llvm::function_ref<SmallVector<Value>(
      ElementEmitter &, SmallVector<LinearIndex>, mlir::ValueRange)>;

  SmallVector<Value> emitInits(ElementEmitter &emitter,
                               ArrayRef<LinearIndex> loops);
  SmallVector<Value> emitLoops(ElementEmitter &emitter, ArrayRef<unsigned> dims,
                               SmallVector<LinearIndex> loops,
                               mlir::ValueRange running, Body body);
  SmallVector<Value>
  emitLoop(ElementEmitter &emitter, int64_t count, mlir::ValueRange running,
           llvm::function_ref<SmallVector<Value>(ElementEmitter &, LinearIndex,
                                                 mlir::ValueRange)>
               body);
  SmallVector<Value> emitStep(ElementEmitter &emitter,
                              ArrayRef<LinearIndex> loops,
                              mlir::ValueRange running);
  SmallVector<Value> emitPartialRow(ElementEmitter &emitter,
                                    SmallVector<LinearIndex> loops,
                                    mlir::ValueRange running);
  Value combineAll(Value partials);
  SmallVector<Value> emitChain(ElementEmitter &emitter,
                               ArrayRef<LinearIndex> loops,
                               mlir::ValueRange running);
  SmallVector<Value> emitLongSum(ElementEmitter &emitter,
                                 ArrayRef<LinearIndex> loops, Value init);
  SmallVector<Value> emitChunk(ElementEmitter &emitter,
                               ArrayRef<LinearIndex> loops);
  SmallVector<Value> emitChunks(ElementEmitter &emitter,
                                ArrayRef<LinearIndex> loops);
  Value emitPartial(ElementEmitter &emitter, ArrayRef<LinearIndex> loops,
                    Value partial);
  Value neutral();
  /// Steps along \p dim inside a chunk, and the first of them.
  int64_t extentOf(unsigned dim) const;
  LinearIndex firstOf(unsigned dim) const;

  const Reduction &reduction;
  mlir::ImplicitLocOpBuilder &builder;
  /// 16, or 1 where the body cannot be emitted in lanes or is not.
  int64_t partialLanes;
  /// The chunk that code is emitted for.
  LinearIndex chunk = 0;
};

/// The facts that decide the order of \p op.
Reduction analyzeReduction(mlir::linalg::LinalgOp op);

/// The loops of \p op at the indices \p at of its result.
SmallVector<LinearIndex> parallelLoops(mlir::linalg::LinalgOp op,
                                       ArrayRef<LinearIndex> at);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_REDUCTIONORDER_H
