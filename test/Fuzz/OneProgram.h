//===- OneProgram.h - One program, run in all its ways ----------*- C++ -*-===//

#ifndef CKPT_TEST_FUZZ_ONEPROGRAM_H
#define CKPT_TEST_FUZZ_ONEPROGRAM_H

#include "ckpt/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdio>
#include <string>

/// Parses \p text, whose arguments begin \p data, runs it, writes to \p answer
/// and ends the process: with 0, unless the program crashes.
[[noreturn]] void runProgram(mlir::MLIRContext &context, llvm::StringRef text,
                             llvm::ArrayRef<char> data, FILE *answer);

/// Bytes of the arguments of \p text, as its line `// bytes: N` says.
size_t argumentBytes(llvm::StringRef text);

/// \p text without line breaks.
std::string oneLine(llvm::StringRef text);

#endif // CKPT_TEST_FUZZ_ONEPROGRAM_H
