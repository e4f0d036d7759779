//===- InitAll.h - Registers everything of ckpt and upstream ----*- C++ -*-===//
//
// Only tools include this: it pulls in all of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_INITALL_H
#define CKPT_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ckpt {

/// All upstream dialects, extensions and translations to LLVM IR, the ckpt
/// dialect and its external models.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All upstream passes, the ckpt passes and pipelines. Call once.
void registerAllPasses();

} // namespace ckpt

#endif // CKPT_INITALL_H
