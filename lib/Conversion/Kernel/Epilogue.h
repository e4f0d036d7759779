//===- Epilogue.h - Outputs behind the element of an anchor -----*- C++ -*-===//
//
// The emitters of contractions and reductions call it where an element of the
// anchor is complete: the ops behind the anchor, and the stores.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_EPILOGUE_H
#define CKPT_LIB_CONVERSION_KERNEL_EPILOGUE_H

#include "Conversion/Kernel/KernelCode.h"

namespace ckpt {

/// Emits and stores all outputs that depend on the anchor's results at the
/// indices \p at; \p emitter knows the elements of these results.
LogicalResult emitOutputs(KernelCode &code, TaskTarget &target,
                          ElementEmitter &emitter, ArrayRef<LinearIndex> at);

/// Whether lanes at \p at are neighbours in the memory of all outputs.
bool areNeighboursInOutputs(KernelCode &code, IndexEmitter &index,
                            ArrayRef<LinearIndex> at);

/// Asks for the lines of the cache that `emitOutputs` will write at \p at.
void prefetchOutputs(KernelCode &code, TaskTarget &target, IndexEmitter &index,
                     ArrayRef<LinearIndex> at);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_EPILOGUE_H
