//===- LoopScratch.h - Memory of what a loop makes inside -------*- C++ -*-===//
//
// What one iteration of a loop makes and forgets has to lie somewhere. The
// planner asks how much that is, before the loop is lowered to buffers; the
// lowering then places its buffers in what was planned.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_EXTERNALMODELS_LOOPSCRATCH_H
#define CKPT_EXTERNALMODELS_LOOPSCRATCH_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/Operation.h"

namespace ckpt {

/// A buffer, or a tensor that will be one.
struct Scratch {
  Value value;
  int64_t bytes = 0;
  /// From the first op, by number, for which it has to be there, to the last.
  int64_t begin = 0, end = 0;
  /// In bytes, a multiple of 64.
  int64_t offset = 0;
};

/// Bytes of the elements of \p type, which is a tensor or memref of static
/// shape; i1 takes a byte.
int64_t scratchBytes(Type type);

/// \p values, made by ops inside \p root, with the ops that they live for. What
/// is used in a loop that does not make it lives until that loop ends; what
/// leaves the region that makes it lives as long as the op of that region.
SmallVector<Scratch> liveScratch(Operation *root, ArrayRef<Value> values);

/// Gives every one an offset; those that live at the same time do not overlap.
/// Returns the bytes of all.
int64_t placeScratch(MutableArrayRef<Scratch> buffers);

} // namespace ckpt

#endif // CKPT_EXTERNALMODELS_LOOPSCRATCH_H
