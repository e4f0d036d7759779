//===- PushSlices.h - Slices before the ops that they slice -----*- C++ -*-===//
//
// JAX casts or scales stacked weights as a whole before a loop slices them.
// After the slice, each layer's part is computed where its reader stands.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_PUSHSLICES_H
#define CKPT_LIB_TRANSFORMS_LOOPS_PUSHSLICES_H

#include "ckpt/Support/LLVM.h"

namespace ckpt {

/// In \p block: an elementwise op on arguments and constants of which only
/// disjoint slices are read becomes one op per slice. Returns the number of
/// ops that were replaced.
int64_t pushSlices(Block &block);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_PUSHSLICES_H
