//===- CarryInOrder.h - Values that `scf.while` hands on --------*- C++ -*-===//

#ifndef CKPT_ANALYSIS_CARRYINORDER_H
#define CKPT_ANALYSIS_CARRYINORDER_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ckpt {

/// Lets the condition of \p loop hand on what the loop carries, each value in
/// its place. Returns the loop: another one, if it handed on other values.
mlir::scf::WhileOp carryInOrder(mlir::scf::WhileOp loop);

/// Each `scf.while` of \p function.
SmallVector<mlir::scf::WhileOp> whileLoops(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_ANALYSIS_CARRYINORDER_H
