//===- EmitReduction.cpp - Kernels around an op that reduces --------------===//
//
// Lanes go to the reduced dimension or to neighbouring outputs, whichever the
// order of the reduction allows (ReductionOrder.h).
//
//===----------------------------------------------------------------------===//

#include "Conversion/Cpu/CpuEmitters.h"
#include "Conversion/Cpu/EmitTasks.h"
#include "Conversion/Cpu/IterationSpace.h"
#include "Conversion/Kernel/Epilogue.h"
#include "Conversion/Kernel/ReductionOrder.h"

using namespace ckpt;
using namespace mlir;

LogicalResult ckpt::emitReductionKernel(KernelCode &code, int64_t lanes,
                                        SymbolTable &symbols) {
  auto op = cast<linalg::LinalgOp>(code.anchor);
  Reduction reduction = analyzeReduction(op);
  bool inLanes = supportsLanes(code.function.front());
  int64_t work = workPerElement(code);
  for (unsigned dim : reduction.reducedDims)
    work *= reduction.extents[dim];
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  // Lanes go to the reduced dimension or to the outputs. Wide rows of running
  // results make use of whole cache lines.
  int64_t outputLanes = inLanes && !reduction.partialDim ? lanes : 1;
  if (outputLanes > 1 && !shape.empty() && shape.back() % (4 * lanes) == 0)
    outputLanes *= 4;
  IterationSpace space(shape, outputLanes, work);
  auto emit = [&](TaskTarget &target) {
    return space.emitLoops(target,
                           [&](ElementEmitter &emitter,
                               ArrayRef<LinearIndex> at) -> LogicalResult {
                             ReductionEmitter reducer(reduction, target.builder,
                                                      inLanes ? partialResults
                                                              : 1);
                             SmallVector<Value> results =
                                 reducer.emit(emitter, parallelLoops(op, at));
                             if (results.empty())
                               return failure();
                             for (auto [result, value] :
                                  llvm::zip_equal(op->getResults(), results))
                               emitter.setElement(result, value);
                             return emitOutputs(code, target, emitter, at);
                           });
  };
  return emitTasks(
      code, {space.getTasks(), ShapedType::getNumElements(shape) * work, emit},
      symbols);
}
