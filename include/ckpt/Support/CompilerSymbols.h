//===- CompilerSymbols.h - What compiled code calls by itself ---*- C++ -*-===//
//
// Both JITs register these: the one for a step (lib/Runtime) and the one for
// device code (lib/Emulator).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_COMPILERSYMBOLS_H
#define CKPT_SUPPORT_COMPILERSYMBOLS_H

#include "llvm/ExecutionEngine/Orc/Mangling.h"

namespace ckpt {

/// Functions of a compiler's library that LLVM calls where a CPU has no
/// instruction. Older libraries lack them, and programs hold only what they
/// call themselves.
llvm::orc::SymbolMap compilerSymbols(llvm::orc::MangleAndInterner &interner);

} // namespace ckpt

#endif // CKPT_SUPPORT_COMPILERSYMBOLS_H
