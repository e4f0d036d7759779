//===- ForwardStacks.h - From stacked pieces to their slices ----*- C++ -*-===//
//
// After unrolling, every slice of a stack reads one piece, which some iteration
// inserted. `--ckpt-prepare` hands that piece to its reader; a stack without
// other readers disappears.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_FORWARDSTACKS_H
#define CKPT_LIB_TRANSFORMS_LOOPS_FORWARDSTACKS_H

#include "ckpt/Support/LLVM.h"

namespace ckpt {

/// In \p block: a static slice of a piece of a stack becomes the piece; a chain
/// of insertions that fills a tensor becomes one `tensor.concat` of its pieces.
/// Returns the number of ops that were replaced.
int64_t forwardStacks(Block &block);

/// Erases the pure ops of \p block that nothing reads.
void eraseUnreadOps(Block &block);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_FORWARDSTACKS_H
