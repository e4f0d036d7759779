//===- Reference.h - Kernels as upstream's plain loops ----------*- C++ -*-===//

#ifndef CKPT_TEST_INTEGRATION_REFERENCE_H
#define CKPT_TEST_INTEGRATION_REFERENCE_H

#include "ckpt/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

/// Compiles function \p name of \p module with its kernels dissolved, by
/// upstream's bufferization and scalar loops. Called as the lowered step is,
/// but without an arena.
llvm::Expected<std::unique_ptr<mlir::ExecutionEngine>>
compileReference(mlir::ModuleOp module, llvm::StringRef name);

#endif // CKPT_TEST_INTEGRATION_REFERENCE_H
