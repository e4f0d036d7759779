//===- EmitGpuReduction.cpp - Reductions by threads of a GPU --------------===//
//
// The order is the CPU's, so the bits are too. If 16 running results are kept,
// 16 neighbouring threads keep one each and combine them by halves in shared
// memory. Every chunk of a reduction has threads of its own; the first of them
// combines the chunks, in order. Any other reduction is one chain in one
// thread.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Kernel/Epilogue.h"
#include "Conversion/Kernel/ReductionOrder.h"
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
  FailureOr<LaunchSize> emitParts();
  int64_t outputsOfBlock(int64_t partials) const;
  Value sharePart(Value mine, Value partial, int64_t threads);
  LogicalResult emitOutput(const ElementEmitter &emitter,
                           ArrayRef<LinearIndex> at, Value values);
  void combineHalves(Value values, Value partial);
  Value combineParts(Value values);
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
  /// Between threads of neighbouring chunks of the same output.
  int64_t chunkStride = 0;
};
} // namespace

/// Threads that a block has at least next to each other, in outputs or in
/// running results of one, so that they read whole sectors of memory: eight
/// f32.
static constexpr int64_t fewestNeighbours = 8;

/// Threads of a warp: fewer take as long.
static constexpr int64_t fewestThreads = 32;

/// With fewer blocks, some multiprocessors of a device have nothing to do.
static constexpr int64_t enoughBlocks = 128;

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
        ElementEmitter emitter = thread.elements(/*lanes=*/1);
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
/// them; \p values has a place for each thread.
void GpuReductionEmitter::combineHalves(Value values, Value partial) {
  Value here = thread.thread();
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
}

/// Combines the \p values of the threads of all chunks of an output.
Value GpuReductionEmitter::combineParts(Value values) {
  Value here = thread.thread();
  if (reduction.chunks == 1)
    return memref::LoadOp::create(builder, values, here);
  return reducer.combineChunks(reduction.chunks, [&](Value chunk) -> Value {
    Value distance =
        arith::MulIOp::create(builder, chunk, thread.constant(chunkStride));
    Value there = arith::AddIOp::create(builder, here, distance);
    return memref::LoadOp::create(builder, values, there);
  });
}

/// Neighbouring outputs are neighbours in memory where no \p partials are.
int64_t GpuReductionEmitter::outputsOfBlock(int64_t partials) const {
  int64_t partsPerOutput = partials * reduction.chunks;
  int64_t fewest = std::max({int64_t(1), fewestNeighbours / partials,
                             fewestThreads / partsPerOutput});
  int64_t inBlock = std::max(threadsPerBlock / partsPerOutput, fewest);
  auto blocks = [&] {
    return static_cast<int64_t>(llvm::divideCeil(outputs, inBlock));
  };
  while (inBlock > fewest && blocks() < enoughBlocks)
    inBlock /= 2;
  return inBlock;
}

FailureOr<LaunchSize> GpuReductionEmitter::emitParts() {
  int64_t partials = reduction.partialDim ? partialResults : 1;
  int64_t partsPerOutput = partials * reduction.chunks;
  int64_t outputsPerBlock = outputsOfBlock(partials);
  LaunchSize size{
      static_cast<int64_t>(llvm::divideCeil(outputs, outputsPerBlock)),
      outputsPerBlock * partsPerOutput};
  chunkStride = outputsPerBlock * partials;
  ElementEmitter emitter = thread.elements(/*lanes=*/1);
  IndexEmitter &index = emitter.indices();
  SmallVector<LinearIndex> place =
      delinearize(index.atom(thread.thread(), size.threads),
                  {reduction.chunks, outputsPerBlock, partials}, index);
  LinearIndex output =
      index.atom(thread.block(), size.blocks) * outputsPerBlock + place[1];
  Value chunk = index.materialize(place[0]);
  Value number = index.materialize(output);
  Value partial = index.materialize(place[2]);
  // Threads past the end repeat the last output: all of them meet at barriers.
  SmallVector<LinearIndex> at =
      delinearize(index.clamp(output, {0, outputs}).index, shape, index);
  Value mine =
      reducer.emitPart(emitter, parallelLoops(op, at), place[0], partial);
  if (!mine)
    return failure();
  Value values = sharePart(mine, partial, size.threads);
  LogicalResult result =
      thread.ifBelow(partial, 1, partials, [&]() -> LogicalResult {
        return thread.ifBelow(
            chunk, 1, reduction.chunks, [&]() -> LogicalResult {
              return thread.ifBelow(
                  number, outputs, size.blocks * outputsPerBlock,
                  [&] { return emitOutput(emitter, at, values); });
            });
      });
  if (failed(result))
    return failure();
  return size;
}

/// Shows all threads the result of each, and the first of 16 the results of
/// all.
Value GpuReductionEmitter::sharePart(Value mine, Value partial,
                                     int64_t threads) {
  Value values = thread.shared({threads}, mine.getType());
  memref::StoreOp::create(builder, mine, values, thread.thread());
  if (reduction.partialDim)
    combineHalves(values, partial);
  if (reduction.chunks > 1)
    thread.barrier();
  return values;
}

LogicalResult GpuReductionEmitter::emitOutput(const ElementEmitter &emitter,
                                              ArrayRef<LinearIndex> at,
                                              Value values) {
  ElementEmitter inside = emitter.nested(/*lanes=*/1);
  Value all = reducer.combineWithInit(inside, parallelLoops(op, at),
                                      combineParts(values));
  return all ? emitEpilogue(inside, at, all) : failure();
}

FailureOr<LaunchSize> GpuReductionEmitter::emit() {
  if (outputs == 0)
    return LaunchSize();
  return reduction.isSplit() ? emitParts() : emitChains();
}

FailureOr<LaunchSize> ckpt::emitGpuReduction(KernelCode &code,
                                             GpuThread &thread) {
  return GpuReductionEmitter(code, thread).emit();
}
