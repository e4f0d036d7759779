//===- Verify.h - Proofs about rewritten programs ---------------*- C++ -*-===//
//
// `--ckpt-verify-slots` and `--ckpt-verify` as functions. Both read nothing but
// the IR: no plan, no problem, no word of the planner.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_VERIFY_VERIFY_H
#define CKPT_VERIFY_VERIFY_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// The places of all kernels of \p function: live values overlap only if one
/// takes over an input, and all of them are in the arena.
LogicalResult verifySlots(mlir::func::FuncOp function);

/// Verifies that \p rewritten computes the same as \p original: every op that
/// runs is one of the original on the same operands, every result is the same,
/// effects run once each and in order, and recomputations are marked and kept
/// apart from their originals. Kernels, layers and barriers may stand in
/// either. Both must be of one context. An error points into \p rewritten, with
/// a note at the original.
LogicalResult verifyRewrite(mlir::func::FuncOp rewritten,
                            mlir::func::FuncOp original);

/// The same for all of a module, its other symbols included; with the places of
/// kernels.
LogicalResult verifyRewrite(ModuleOp rewritten, ModuleOp original);

/// Whether both functions have the same ops on the same operands, their names
/// included.
bool isSameFunction(mlir::func::FuncOp one, mlir::func::FuncOp other);

} // namespace ckpt

#endif // CKPT_VERIFY_VERIFY_H
