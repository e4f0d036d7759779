//===- HostCompiler.h - LLVM for this machine -------------------*- C++ -*-===//

#ifndef CKPT_LIB_RUNTIME_HOSTCOMPILER_H
#define CKPT_LIB_RUNTIME_HOSTCOMPILER_H

namespace ckpt {

/// Makes LLVM ready to compile for this machine. Whoever compiles a step calls
/// it first, any number of times.
void initializeHostCompiler();

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_HOSTCOMPILER_H
