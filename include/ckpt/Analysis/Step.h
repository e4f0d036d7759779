//===- Step.h - Which function of a module is the step ----------*- C++ -*-===//
//
// Passes and tools that work on one function of a module find it here, before
// any rewrite.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_STEP_H
#define CKPT_ANALYSIS_STEP_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// The function called \p name; without a name the only public function with a
/// body. Otherwise reports at the module the functions that it found.
FailureOr<mlir::func::FuncOp> findStep(ModuleOp module, StringRef name);

} // namespace ckpt

#endif // CKPT_ANALYSIS_STEP_H
