//===- EmitGpuReduction.cpp - Reductions by threads of a GPU --------------===//
//
// The order is that of the CPU, so the bits are too: where 16 running results
// are kept, 16 neighbouring threads keep one each and combine them by halves in
// shared memory; any other reduction is one chain in one thread.
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "GpuKernel.h"
#include "ReductionOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

namespace {
class GpuReductionEmitter {
public:
  GpuReductionEmitter(KernelCode &code, GpuThread &thread)
      : code(code), op(cast<linalg::LinalgOp>(code.anchor)), thread(thread),
        builder(thread.getBuilder()), reduction(analyzeReduction(op)),
        reducer(reduction, builder, /*partialLanes=*/1),
        shape(cast<ShapedType>(op->getResult(0).getType()).getShape()),
        outputs(ShapedType::getNumElements(shape)) {}

  FailureOr<LaunchSize> emit();

private:
  FailureOr<LaunchSize> emitChains();
  FailureOr<LaunchSize> emitPartials();
  Value combineHalves(Value mine, Value partial);
  LogicalResult emitEpilogue(ElementEmitter &emitter, ArrayRef<LinearIndex> at,
                             ValueRange results);

  KernelCode &code;
  linalg::LinalgOp op;
  GpuThread &thread;
  ImplicitLocOpBuilder &builder;
  Reduction reduction;
  ReductionEmitter reducer;
  ArrayRef<int64_t> shape;
  int64_t outputs;
};
} // namespace

LogicalResult GpuReductionEmitter::emitEpilogue(ElementEmitter &emitter,
                                                ArrayRef<LinearIndex> at,
                                                ValueRange results) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    emitter.setElement(result, value);
  return emitOutputs(code, thread.getTarget(), emitter, at);
}

FailureOr<LaunchSize> GpuReductionEmitter::emitChains() {
  LaunchSize size{
      static_cast<int64_t>(llvm::divideCeil(outputs, threadsPerBlock))};
  Value number = thread.global();
  LogicalResult result = thread.ifBelow(
      number, outputs, size.blocks * size.threads, [&]() -> LogicalResult {
        ElementEmitter emitter(builder, thread.getTarget().memory, /*lanes=*/1);
        IndexEmitter &index = emitter.indices();
        SmallVector<LinearIndex> at =
            delinearize(index.atom(number, outputs), shape, index);
        SmallVector<Value> results =
            reducer.emit(emitter, parallelLoops(op, at));
        return results.empty() ? failure() : emitEpilogue(emitter, at, results);
      });
  if (failed(result))
    return failure();
  return size;
}

/// The running results of 16 neighbouring threads as one, for the first of
/// them.
Value GpuReductionEmitter::combineHalves(Value mine, Value partial) {
  Value values = thread.shared({threadsPerBlock}, mine.getType());
  Value here = thread.thread();
  memref::StoreOp::create(builder, mine, values, here);
  for (int64_t half = partialResults / 2; half >= 1; half /= 2) {
    thread.barrier();
    (void)thread.ifBelow(partial, half, partialResults, [&] {
      Value there = arith::AddIOp::create(builder, here, thread.constant(half));
      Value low = memref::LoadOp::create(builder, values, here);
      Value high = memref::LoadOp::create(builder, values, there);
      memref::StoreOp::create(builder, reducer.combine(low, high), values,
                              here);
      return success();
    });
  }
  return memref::LoadOp::create(builder, values, here);
}

FailureOr<LaunchSize> GpuReductionEmitter::emitPartials() {
  int64_t outputsPerBlock = threadsPerBlock / partialResults;
  LaunchSize size{
      static_cast<int64_t>(llvm::divideCeil(outputs, outputsPerBlock))};
  // Threads past the end repeat the last output: all of them meet at barriers.
  ElementEmitter emitter(builder, thread.getTarget().memory, /*lanes=*/1);
  IndexEmitter &index = emitter.indices();
  auto [slot, lane] = divideIndex(index.atom(thread.thread(), threadsPerBlock),
                                  partialResults, index);
  Value partial = index.materialize(lane);
  LinearIndex output =
      index.atom(thread.block(), size.blocks) * outputsPerBlock + slot;
  Value number = index.materialize(output);
  SmallVector<LinearIndex> at =
      delinearize(index.clamp(output, {0, outputs}).index, shape, index);
  SmallVector<LinearIndex> loops = parallelLoops(op, at);
  Value mine = reducer.emitPartial(emitter, loops, partial);
  if (!mine)
    return failure();
  Value sum = combineHalves(mine, partial);
  LogicalResult result =
      thread.ifBelow(partial, 1, partialResults, [&]() -> LogicalResult {
        return thread.ifBelow(
            number, outputs, size.blocks * outputsPerBlock,
            [&]() -> LogicalResult {
              ElementEmitter inside = emitter.nested(/*lanes=*/1);
              Value all = reducer.combineWithInit(inside, loops, sum);
              return all ? emitEpilogue(inside, at, all) : failure();
            });
      });
  if (failed(result))
    return failure();
  return size;
}

FailureOr<LaunchSize> GpuReductionEmitter::emit() {
  if (outputs == 0)
    return LaunchSize();
  return reduction.combiner ? emitPartials() : emitChains();
}

FailureOr<LaunchSize> ckpt::emitGpuReduction(KernelCode &code,
                                             GpuThread &thread) {
  if (failed(checkReduction(cast<linalg::LinalgOp>(code.anchor))))
    return failure();
  return GpuReductionEmitter(code, thread).emit();
}
