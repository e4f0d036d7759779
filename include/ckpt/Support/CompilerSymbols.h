//===- CompilerSymbols.h - Library calls of compiled code -------*- C++ -*-===//
//
// Both JITs register these: the one for a step (lib/Runtime) and the one for
// device code (lib/Emulator).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_SUPPORT_COMPILERSYMBOLS_H
#define CKPT_SUPPORT_COMPILERSYMBOLS_H

#include "llvm/ExecutionEngine/Orc/Mangling.h"

namespace ckpt {

/// Functions of a compiler's library that LLVM calls for instructions that a
/// CPU lacks. Older libraries lack them, and programs hold only the functions
/// that they call themselves.
llvm::orc::SymbolMap compilerSymbols(llvm::orc::MangleAndInterner &interner);

} // namespace ckpt

#endif // CKPT_SUPPORT_COMPILERSYMBOLS_H
