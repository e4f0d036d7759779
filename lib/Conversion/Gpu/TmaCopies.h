//===- TmaCopies.h - Copies to shared memory by TMA -------------*- C++ -*-===//
//
// Tensor maps (TMA): if a block's part of an operand is a box of a strided
// tensor, one thread asks for all of it. The hardware finds the addresses,
// swaps chunks, and puts zeros where the box leaves the tensor. A barrier in
// shared memory counts the arriving bytes, one for each part that stands there.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_TMACOPIES_H
#define CKPT_LIB_CONVERSION_GPU_TMACOPIES_H

#include "Conversion/Gpu/GpuThread.h"
#include "Conversion/Kernel/ContractionShape.h"

namespace ckpt {

struct Staging;
struct StagedOperand;

class TmaCopies {
public:
  TmaCopies(const KernelCode &code, const ContractionShape &shape,
            GpuThread &thread, const ElementEmitter &emitter,
            const Staging &staging)
      : code(code), shape(shape), thread(thread), builder(thread.getBuilder()),
        emitter(emitter), staging(staging) {}

  /// Copies \p operand from here on, if its parts are boxes that a tensor map
  /// may have; whether they are.
  bool take(const StagedOperand &operand);
  /// Makes the barriers, for the block of \p batch. Threads have to meet before
  /// they wait.
  void begin(const LinearIndex &batch);
  /// Begins to bring part \p number to \p place, which no thread may read any
  /// more.
  void copy(Value number, Value place);
  /// Waits for part \p number at \p place: nothing else is needed to read it by
  /// the asynchronous proxy.
  void wait(Value number, Value place);

private:
  struct Boxes {
    const StagedOperand *operand;
    Value map;
    /// The counters of a box's begin along each dimension, innermost first: 0
    /// counts neighbours, 1 lines, others the batch.
    SmallVector<unsigned> counters;
    /// Extents of the batch counters.
    SmallVector<int64_t> batches;
  };

  Value shared(Value memory, Value bytes);
  Value barrierAt(Value place);
  void copyBoxes(const Boxes &boxes, Value number, Value place);

  const KernelCode &code;
  const ContractionShape &shape;
  GpuThread &thread;
  mlir::ImplicitLocOpBuilder &builder;
  const ElementEmitter &emitter;
  const Staging &staging;
  LinearIndex batch;
  /// One for each place.
  Value barriers;
  SmallVector<Boxes, 2> taken;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_TMACOPIES_H
