//===- HostCompiler.h - LLVM for this machine -------------------*- C++ -*-===//
//
// The runtime and the emulator begin here to compile for the machine that they
// run on. Parts of LLVM that hang or compute something wrong are left out.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_HOSTCOMPILER_H
#define CKPT_SUPPORT_HOSTCOMPILER_H

#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"

namespace ckpt {

/// Makes LLVM ready to compile, any number of times.
void initializeHostCompiler();

/// This machine's processor, after `initializeHostCompiler`.
llvm::Expected<llvm::orc::JITTargetMachineBuilder> detectHost();

} // namespace ckpt

#endif // CKPT_SUPPORT_HOSTCOMPILER_H
