//===- WarpInstructions.h - Tensor cores as calls of the emulator -*- C++ -*-=//

#ifndef CKPT_LIB_RUNTIME_WARPINSTRUCTIONS_H
#define CKPT_LIB_RUNTIME_WARPINSTRUCTIONS_H

#include "llvm/IR/IntrinsicInst.h"

namespace ckpt {

/// Replaces an instruction of a warp, or one of asynchronous copies, by a call
/// of the emulator (EmulatedBlock.h); false if \p call is none.
bool replaceWarpInstruction(llvm::IntrinsicInst &call);

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_WARPINSTRUCTIONS_H
