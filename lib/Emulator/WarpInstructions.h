//===- WarpInstructions.h - Tensor cores as calls of the emulator -*- C++ -*-=//
//
// Loading a module (EmulatedModule.h) calls it for each instruction of the
// device code, before that is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EMULATOR_WARPINSTRUCTIONS_H
#define CKPT_LIB_EMULATOR_WARPINSTRUCTIONS_H

#include "llvm/IR/Instructions.h"

namespace ckpt {

/// Replaces an instruction of a warp or warpgroup, or one of asynchronous
/// copies, by a call of the emulator (EmulatedBlock.h); false if \p call is
/// none.
bool replaceWarpInstruction(llvm::CallInst &call);

/// Tells the emulator of every store of \p function to \p addressSpace.
void noteStores(llvm::Function &function, unsigned addressSpace);

} // namespace ckpt

#endif // CKPT_LIB_EMULATOR_WARPINSTRUCTIONS_H
