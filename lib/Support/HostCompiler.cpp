//===- HostCompiler.cpp - LLVM for this machine ---------------------------===//

#include "ckpt/Support/HostCompiler.h"
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

llvm::Expected<llvm::orc::JITTargetMachineBuilder> ckpt::detectHost() {
  initializeHostCompiler();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  // LLVM 22 makes `vpdpbusd` of a sum of signed by unsigned bytes, and adds up
  // one of its four partial sums.
  if (builder && builder->getTargetTriple().isX86())
    builder->addFeatures({"-avxvnni", "-avx512vnni"});
  return builder;
}
