//===- LowerStep.h - A step of kernels in LLVM's dialect --------*- C++ -*-===//
//
// The common first half of a step in this process (CompiledStep.h) and of an
// executable (EmitExecutable.h): passes, up to LLVM's dialect.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_RUNTIME_LOWERSTEP_H
#define CKPT_LIB_RUNTIME_LOWERSTEP_H

#include "ckpt/Runtime/CompiledStep.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace ckpt {

struct LoweredStep {
  mlir::OwningOpRef<ModuleOp> module;
  /// The step, which takes the addresses of its arguments, of its results and
  /// of the arena.
  std::string name;
  SmallVector<BufferType> arguments, results;
  /// By argument: the result that may lie in its buffer, or -1.
  SmallVector<int64_t> donated;
  int64_t arenaBytes = 0;
};

/// Lowers a copy of \p module for the device of \p options; \p lanes are the
/// elements of the CPU's vectors.
llvm::Expected<LoweredStep>
lowerStep(ModuleOp module, const CompileOptions &options, int64_t lanes);

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_LOWERSTEP_H
