//===- SharedMemoryStaging.h - Operands in shared memory --------*- C++ -*-===//
//
// bf16 and f16 on their way to tensor cores: operands come to shared memory by
// copies that run while earlier steps are multiplied; a few parts of the steps
// take turns there.
//
// Steps past the end are zeros in both operands. An operand comes by boxes
// (TmaCopies.h), by all threads in aligned vectors, in vectors cut out of two
// aligned ones, or element by element: the order must depend on the op alone,
// not on the places of its operands in memory.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_SHAREDMEMORYSTAGING_H
#define CKPT_LIB_CONVERSION_GPU_SHAREDMEMORYSTAGING_H

#include "Conversion/Gpu/TmaCopies.h"
#include "Conversion/Kernel/ContractionShape.h"

namespace ckpt {

/// Whether tensor cores can multiply bf16 or f16 operands of \p shape.
bool fitsTensorCores(const ContractionShape &shape);

/// Side of a block's square of results.
int64_t tensorCoreSide(const ContractionShape &shape);

/// The layout of a block's shared memory.
struct Staging {
  /// Rows, and columns, of the block's results.
  int64_t side;
  /// Steps of a part, and parts that stand there at a time.
  int64_t steps, parts;
  /// Elements of a line that holds rows or columns of one step.
  int64_t outerColumns;
  int64_t threads;
  /// Whether the multiplying threads read past the caches of the writing ones:
  /// by the asynchronous proxy, which copies boxes too. They are still at it
  /// when the next part begins.
  bool readsByProxy;
};

/// One operand: for every part lines of `columns` elements, which are the
/// neighbours in memory: steps, or rows (columns) of the result. Eight elements
/// make a chunk; chunks of a line are swapped so that chunks of one number
/// start in different banks.
struct StagedOperand {
  bool isRight;
  bool alongSteps;
  int64_t columns;
  /// Whether `TmaCopies` brings it.
  bool comesByBoxes;
  /// First row or column of the block.
  LinearIndex firstOuter;
  /// Parts x lines x columns.
  Value shared;
};

class SharedMemoryStaging {
public:
  /// Makes the memory of one operand.
  using Allocate = llvm::function_ref<Value(ArrayRef<int64_t> extents)>;
  /// Adds the part at \p place to \p sums. If it reads by proxy, it begins to,
  /// and ends that for the part before.
  using Multiply = llvm::function_ref<SmallVector<Value>(mlir::ValueRange sums,
                                                         Value place)>;

  SharedMemoryStaging(const KernelCode &code, const ContractionShape &shape,
                      GpuThread &thread, const ElementEmitter &emitter,
                      const Staging &staging)
      : shape(shape), thread(thread), builder(thread.getBuilder()),
        emitter(emitter), staging(staging), steps(shape.reduced.getExtent()),
        boxes(code, shape, thread, emitter, this->staging) {}

  /// For the block at \p corner, whose threads have the numbers \p inBlock.
  void enter(const Corner &corner, const LinearIndex &inBlock,
             Allocate allocate);
  const StagedOperand &operand(bool isRight) const {
    return isRight ? right : left;
  }
  /// Element of the line numbered \p row at which \p chunk begins.
  Value swizzled(const LinearIndex &row, const LinearIndex &chunk,
                 const StagedOperand &operand, IndexEmitter &at) const;
  /// Adds all parts to \p sums, in order.
  SmallVector<Value> addParts(mlir::ValueRange sums, Multiply multiply);

private:
  void makeOperand(StagedOperand &operand, bool isRight, Allocate allocate);
  std::pair<LinearIndex, LinearIndex> placeOf(const StagedOperand &operand,
                                              const LinearIndex &line,
                                              const LinearIndex &along,
                                              IndexEmitter &at) const;
  int64_t count() const;
  bool allByBoxes() const { return left.comesByBoxes && right.comesByBoxes; }
  void copyVector(const StagedOperand &operand, Value number, Value place,
                  int64_t first);
  bool isLine(const StagedOperand &operand) const;
  Value readAcross(Value flat, Value begin);
  void copyLater(const StagedOperand &operand, Value flat, Value start,
                 Value isInside, mlir::ValueRange target);
  void copyAll(Value number, Value place);
  void copyNext(Value next);
  void commit();
  void publish(Value number, Value place);

  const ContractionShape &shape;
  GpuThread &thread;
  mlir::ImplicitLocOpBuilder &builder;
  const ElementEmitter &emitter;
  Staging staging;
  int64_t steps;
  Corner corner;
  LinearIndex inBlock;
  StagedOperand left, right;
  TmaCopies boxes;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_SHAREDMEMORYSTAGING_H
