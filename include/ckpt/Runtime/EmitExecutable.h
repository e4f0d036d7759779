//===- EmitExecutable.h - A step as a program of its own --------*- C++ -*-===//
//
// From a function of ckpt.kernel ops to a small program for a machine that has
// a GPU and its driver, and nothing else of ours.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_EMITEXECUTABLE_H
#define CKPT_RUNTIME_EMITEXECUTABLE_H

#include "ckpt/Runtime/CompiledStep.h"
#include "ckpt/Runtime/Npz.h"
#include <string>

namespace ckpt {

/// An argument or a result, as a program names it.
struct ExecutableTensor {
  /// arg000, out000.
  std::string name;
  NpyType type;
  SmallVector<int64_t> shape;
};

struct ExecutableOptions {
  /// Options of its compilation, for the device of `gpuOptions`.
  CompileOptions compile;
  /// In messages of the program.
  std::string title;
  SmallVector<ExecutableTensor> arguments, results;
  /// Candidate folders of `libCkptCuda.a` and `libCkptCudaProgram.a`, the first
  /// choice first.
  SmallVector<std::string> libraryFolders;
};

/// Writes the program at \p path; takes a C compiler to link it. A failure
/// already reported by a diagnostic is a `DiagnosedError`.
llvm::Error emitExecutable(ModuleOp module, const ExecutableOptions &options,
                           StringRef path);

} // namespace ckpt

#endif // CKPT_RUNTIME_EMITEXECUTABLE_H
