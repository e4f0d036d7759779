//===- EmitElementwise.cpp - Kernels without an anchor --------------------===//
//
// The simplest emitter of the CPU: a loop over the elements of the outputs
// (IterationSpace.h), each made from memory with nothing stored in between.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Cpu/CpuEmitters.h"
#include "Conversion/Cpu/EmitTasks.h"
#include "Conversion/Cpu/IterationSpace.h"
#include "Conversion/Kernel/ElementwiseOutputs.h"

using namespace ckpt;

LogicalResult ckpt::emitElementwiseKernel(KernelCode &code, int64_t lanes,
                                          mlir::SymbolTable &symbols) {
  mlir::RankedTensorType type = outputSpace(code);
  if (!supportsLanes(code.function.front()))
    lanes = 1;
  int64_t work = workPerElement(code);
  IterationSpace space(type.getShape(), lanes, work);
  auto emit = [&](TaskTarget &target) {
    return space.emitLoops(
        target, [&](ElementEmitter &emitter, ArrayRef<LinearIndex> at) {
          return emitElementwisePoint(code, target, emitter, at);
        });
  };
  return emitTasks(code, {space.getTasks(), type.getNumElements() * work, emit},
                   symbols);
}
