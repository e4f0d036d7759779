//===- ElementwiseOutputs.cpp - Kernels without an anchor -----------------===//

#include "Conversion/Kernel/ElementwiseOutputs.h"

using namespace ckpt;
using namespace mlir;

FailureOr<RankedTensorType> ckpt::outputSpace(KernelCode &code) {
  if (code.outputs.empty())
    return emitError(code.function.getLoc(),
                     "expected a kernel to have an output");
  auto type = cast<RankedTensorType>(code.outputs.front().first.getType());
  for (auto [tensor, argument] : code.outputs)
    if (cast<RankedTensorType>(tensor.getType()).getShape() != type.getShape())
      return emitError(tensor.getLoc(),
                       "expected the outputs of a kernel without an "
                       "anchor to have one shape, but got ")
             << tensor.getType() << " beside " << type;
  return type;
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
  auto shape =
      cast<ShapedType>(code.outputs.front().first.getType()).getShape();
  LinearIndex position = linearize(at, shape);
  for (auto [element, flat] : llvm::zip_equal(elements, target.outputs))
    emitter.store(element, flat, position);
  return success();
}
