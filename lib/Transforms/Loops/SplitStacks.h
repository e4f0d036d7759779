//===- SplitStacks.h - Ops on stacks as ops on their pieces -----*- C++ -*-===//
//
// An optimizer updates stacked weights by ops on whole stacks. As one op per
// piece they plan like the update of a model whose layers have weights of their
// own: each gradient dies right after it exists, and a kernel writes its update
// into its part of the result.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_SPLITSTACKS_H
#define CKPT_LIB_TRANSFORMS_LOOPS_SPLITSTACKS_H

#include "ckpt/Support/LLVM.h"

namespace ckpt {

/// In \p block: an op that reads a stack row by row becomes one op per piece,
/// unless a reader wants the resulting stack as a whole. A reduction over the
/// rows becomes a chain of reductions; a sum of paddings becomes one
/// `tensor.concat`. Returns the number of ops that were split.
int64_t splitStacks(Block &block);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_SPLITSTACKS_H
