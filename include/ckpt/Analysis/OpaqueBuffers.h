//===- OpaqueBuffers.h - Ops without emitters, on buffers -------*- C++ -*-===//
//
// A loop, a conditional, or any op that is not made element by element, is
// bufferized by itself. The lowering does so to run it, the planner to know its
// memory: both by the same code, so both get the same buffers.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_OPAQUEBUFFERS_H
#define CKPT_ANALYSIS_OPAQUEBUFFERS_H

#include "ckpt/ExternalModels/LoopScratch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace ckpt {

/// The dialects of the ops that this makes: a pass that reads a step depends on
/// them.
void registerBufferDialects(mlir::DialectRegistry &registry);

/// Replaces each `scf.execute_region` of one block by its ops: upstream's
/// bufferization does not follow values through it.
void openRegions(mlir::func::FuncOp function);

/// Brings the tensor code of \p function to buffers. All results of \p anchor
/// that its `bufferization.materialize_in_destination` ops write are made
/// there.
LogicalResult bufferizeOpaque(mlir::func::FuncOp function, Operation *anchor);

/// The buffers of static shape that \p function, on buffers, allocates, each
/// with its place in one piece of memory.
SmallVector<Scratch> placeTemporaries(mlir::func::FuncOp function);

/// Measures ops without emitters for the planner, equal ones once: a loop
/// inside of an unrolled one occurs many times.
class OpaqueScratch {
public:
  /// Planned memory of the values that \p op makes inside, beside its reads and
  /// all of its results: 0 if they fit on the stack. Reports at the op that it
  /// cannot be bufferized, or that it needs a buffer whose size only the run
  /// knows.
  FailureOr<int64_t> bytesOf(Operation *op);

private:
  /// By the text of a function that holds only the op.
  llvm::StringMap<int64_t> known;
};

} // namespace ckpt

#endif // CKPT_ANALYSIS_OPAQUEBUFFERS_H
