//===- ReadModule.h - Modules of text or bytecode ---------------*- C++ -*-===//

#ifndef CKPT_SUPPORT_READMODULE_H
#define CKPT_SUPPORT_READMODULE_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <string>

namespace ckpt {

/// The file \p path; null after an error. Bytecode places resources at
/// multiples of their alignment in the buffer, which upstream does not align by
/// itself.
std::unique_ptr<llvm::MemoryBuffer> openModule(StringRef path,
                                               std::string *error = nullptr);

/// The module in the file \p path, which \p sources keeps; null after an error.
mlir::OwningOpRef<mlir::ModuleOp>
readModule(StringRef path, llvm::SourceMgr &sources, MLIRContext &context);

} // namespace ckpt

#endif // CKPT_SUPPORT_READMODULE_H
