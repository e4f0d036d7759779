//===- EmitElementwise.cpp - Kernels without an anchor --------------------===//

#include "IterationSpace.h"

using namespace ckpt;

LogicalResult ckpt::emitElementwiseKernel(KernelCode &code,
                                          int64_t lanes,
                                          mlir::SymbolTable &symbols) {
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
  if (!supportsLanes(code.function.front()))
    lanes = 1;
  int64_t work = workPerElement(code);
  IterationSpace space(type.getShape(), lanes, work);
  auto emitPoint = [&](TaskTarget &target, ElementEmitter &emitter,
                       ArrayRef<LinearIndex> at) -> LogicalResult {
    // All values before any store: an output may lie over an input.
    SmallVector<Value> elements;
    for (auto [tensor, argument] : code.outputs) {
      elements.push_back(emitter.emit(tensor, at));
      if (!elements.back())
        return failure();
    }
    LinearIndex position = linearize(at, type.getShape());
    for (auto [element, flat] : llvm::zip_equal(elements, target.outputs))
      emitter.store(element, flat, position);
    return success();
  };
  auto emit = [&](TaskTarget &target) {
    return space.emitLoops(target, [&](ElementEmitter &emitter,
                                       ArrayRef<LinearIndex> at) {
      return emitPoint(target, emitter, at);
    });
  };
  return emitTasks(code, {space.getTasks(), type.getNumElements() * work, emit},
                   symbols);
}
