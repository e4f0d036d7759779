//===- LoopScratch.h - Memory of values made inside a loop ------*- C++ -*-===//
//
// Values that one iteration of a loop makes and forgets need memory. The
// planner asks for their bytes before the loop is lowered to buffers; the
// lowering then places its buffers in the planned bytes.
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

/// \p values, made by ops inside \p root, with the ops that they live for. A
/// value used in a loop that does not make it lives until that loop ends. A
/// value that leaves its region lives as long as the op of that region.
SmallVector<Scratch> liveScratch(Operation *root, ArrayRef<Value> values);

/// Gives every buffer an offset; buffers that live at the same time do not
/// overlap. Returns the bytes of all.
int64_t placeScratch(MutableArrayRef<Scratch> buffers);

} // namespace ckpt

#endif // CKPT_EXTERNALMODELS_LOOPSCRATCH_H
