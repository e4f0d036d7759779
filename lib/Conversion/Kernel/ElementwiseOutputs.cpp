//===- ElementwiseOutputs.cpp - Kernels without an anchor -----------------===//

#include "Conversion/Kernel/ElementwiseOutputs.h"

using namespace ckpt;
using namespace mlir;

RankedTensorType ckpt::outputSpace(const KernelCode &code) {
  return cast<RankedTensorType>(code.outputs.front().first.getType());
}

LogicalResult ckpt::emitElementwisePoint(KernelCode &code, TaskTarget &target,
                                         ElementEmitter &emitter,
                                         ArrayRef<LinearIndex> at) {
  // All values before any store: an output may lie over an input.
  SmallVector<Value> elements;
  for (auto [tensor, argument] : code.outputs) {
    elements.push_back(emitter.emit(tensor, at));
    if (!elements.back())
      return failure();
  }
  LinearIndex position = linearize(at, outputSpace(code).getShape());
  for (auto [element, flat] : llvm::zip_equal(elements, target.outputs))
    emitter.store(element, flat, position);
  return success();
}
