//===- PackImages.h - Makes device code in host code small ------*- C++ -*-===//
//
// Executables only: EmitExecutable.h runs it on the LLVM IR of the host before
// code generation.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_RUNTIME_PACKIMAGES_H
#define CKPT_LIB_RUNTIME_PACKIMAGES_H

#include "ckpt/Support/LLVM.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace ckpt {

/// Compresses the device code that \p module loads, and lets it call
/// `ckptModuleLoadPacked` instead of upstream's functions.
llvm::Error packImages(llvm::Module &module);

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_PACKIMAGES_H
