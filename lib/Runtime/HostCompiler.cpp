//===- HostCompiler.cpp - LLVM for this machine ---------------------------===//

#include "HostCompiler.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"

void ckpt::initializeHostCompiler() {
  static const bool once = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // LLVM 22 looks for checksums in loops, in time exponential in the ops of
    // an integer that a loop carries.
    llvm::DisableLIRP::HashRecognize = true;
    return true;
  }();
  (void)once;
}
