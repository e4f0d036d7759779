//===- CarryInOrder.h - Values that `scf.while` hands on --------*- C++ -*-===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_CARRYINORDER_H
#define CKPT_LIB_TRANSFORMS_LOOPS_CARRYINORDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Lets each `scf.while` whose condition hands on carried values only hand on
/// all of them, in the order in which the loop carries them.
void carryInOrder(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_CARRYINORDER_H
