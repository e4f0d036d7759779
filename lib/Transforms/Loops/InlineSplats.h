//===- InlineSplats.h - Tensors of equal elements as numbers ----*- C++ -*-===//
//
// A loop that adds gradients begins with a tensor of zeros, where straight code
// begins with the number. After unrolling, the first iteration computes with
// the number too, so that both forms have the same ops and the same plan.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_INLINESPLATS_H
#define CKPT_LIB_TRANSFORMS_LOOPS_INLINESPLATS_H

#include "ckpt/Support/LLVM.h"

namespace ckpt {

/// In \p block: a `linalg.generic` that reads a tensor of equal elements has
/// the element in its body instead. Such tensors are erased where nothing reads
/// them any more.
void inlineSplats(Block &block);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_INLINESPLATS_H
