//===- EmitGpuElementwise.cpp - Kernels without an anchor on a GPU --------===//
//
// A thread makes as many neighbours as one 128-bit access to the outputs takes,
// counted along the whole flattened shape, so rows of any length will do.
// Threads of one element make the elements at the end that do not fill a
// vector.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Kernel/ElementwiseOutputs.h"

using namespace ckpt;
using namespace mlir;

FailureOr<LaunchSize> ckpt::emitGpuElementwise(KernelCode &code,
                                               GpuThread &thread) {
  RankedTensorType type = outputSpace(code);
  int64_t lanes = lanesOf(code);
  int64_t vectors = type.getNumElements() / lanes;
  int64_t rest = type.getNumElements() % lanes;
  LaunchSize size{static_cast<int64_t>(
      llvm::divideCeil(std::max(vectors, rest), threadsPerBlock))};
  if (size.blocks == 0)
    return size;
  auto transposedDim = findTransposedDim(code, thread, type);
  if (failed(transposedDim))
    return failure();
  if (*transposedDim)
    return emitGpuTransposed(code, type, **transposedDim, thread);
  Value number = thread.global();
  auto emitPart = [&](int64_t count, int64_t width, int64_t begin) {
    if (count == 0)
      return success();
    return thread.ifBelow(number, count, size.blocks * size.threads, [&] {
      ElementEmitter emitter = thread.elements(width);
      IndexEmitter &index = emitter.indices();
      LinearIndex position =
          index.atom(number, count) * width + index.lane() + begin;
      return emitElementwisePoint(
          code, thread.getTarget(), emitter,
          delinearize(position, type.getShape(), index));
    });
  };
  if (failed(emitPart(vectors, lanes, 0)) ||
      failed(emitPart(rest, 1, vectors * lanes)))
    return failure();
  return size;
}
