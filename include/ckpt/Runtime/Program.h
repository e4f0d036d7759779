//===- Program.h - A step as a program of its own ---------------*- C++ -*-===//
//
// From a function of ckpt.kernel ops to a small program for a machine with a
// GPU and its driver, where nothing else of ours is.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_PROGRAM_H
#define CKPT_RUNTIME_PROGRAM_H

#include "ckpt/Runtime/Execution.h"
#include "ckpt/Runtime/Npz.h"
#include <string>

namespace ckpt {

/// An argument or a result, as a program names it.
struct ProgramTensor {
  /// arg000, out000.
  std::string name;
  NpyType type;
  SmallVector<int64_t> shape;
};

struct ProgramOptions {
  /// What is compiled, for the device of `gpuOptions`.
  CompileOptions compile;
  /// In messages of the program.
  std::string title;
  SmallVector<ProgramTensor> arguments, results;
  /// Where `libCkptCuda.a` and `libCkptCudaProgram.a` may be, the first choice
  /// first.
  SmallVector<std::string> libraryFolders;
};

/// Writes the program at \p path; takes a C compiler to link it. What a
/// diagnostic has said already is a `DiagnosedError`.
llvm::Error writeProgram(ModuleOp module, const ProgramOptions &options,
                         StringRef path);

} // namespace ckpt

#endif // CKPT_RUNTIME_PROGRAM_H
