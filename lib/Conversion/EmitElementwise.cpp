//===- EmitElementwise.cpp - Kernels without an anchor --------------------===//

#include "IterationSpace.h"

using namespace ckpt;

FailureOr<mlir::RankedTensorType> ckpt::outputSpace(KernelCode &code) {
  if (code.outputs.empty())
    return mlir::emitError(code.function.getLoc(),
                           "expected a kernel to have an output");
  auto type =
      cast<mlir::RankedTensorType>(code.outputs.front().first.getType());
  for (auto [tensor, argument] : code.outputs)
    if (cast<mlir::RankedTensorType>(tensor.getType()).getShape() !=
        type.getShape())
      return mlir::emitError(tensor.getLoc(),
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
      cast<mlir::ShapedType>(code.outputs.front().first.getType()).getShape();
  LinearIndex position = linearize(at, shape);
  for (auto [element, flat] : llvm::zip_equal(elements, target.outputs))
    emitter.store(element, flat, position);
  return success();
}

LogicalResult ckpt::emitElementwiseKernel(KernelCode &code, int64_t lanes,
                                          mlir::SymbolTable &symbols) {
  FailureOr<mlir::RankedTensorType> type = outputSpace(code);
  if (failed(type))
    return failure();
  if (!supportsLanes(code.function.front()))
    lanes = 1;
  int64_t work = workPerElement(code);
  IterationSpace space(type->getShape(), lanes, work);
  auto emit = [&](TaskTarget &target) {
    return space.emitLoops(
        target, [&](ElementEmitter &emitter, ArrayRef<LinearIndex> at) {
          return emitElementwisePoint(code, target, emitter, at);
        });
  };
  return emitTasks(
      code, {space.getTasks(), type->getNumElements() * work, emit}, symbols);
}
