//===- InitAll.h - Registers everything of ckpt and upstream ----*- C++ -*-===//
//
// Only final programs and modules include this: tools, the plugin, the C
// API's library and the Python module. It pulls in all of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_INITALL_H
#define CKPT_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ckpt {

/// The ckpt dialect and its models of upstream ops, for a registry that has the
/// upstream dialects already.
void registerDialects(mlir::DialectRegistry &registry);

/// The ckpt passes and pipelines, beside upstream's. Call once.
void registerPasses();

/// All upstream dialects, extensions and translations to LLVM IR, the ckpt
/// dialect and its external models.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All upstream passes, the ckpt passes and pipelines. Call once.
void registerAllPasses();

} // namespace ckpt

#endif // CKPT_INITALL_H
