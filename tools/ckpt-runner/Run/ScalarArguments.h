//===- ScalarArguments.h - Scalars that a step takes ------------*- C++ -*-===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_SCALARARGUMENTS_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_SCALARARGUMENTS_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Makes tensors of rank 0 of the scalars that \p step takes: arguments of a
/// run are memory, on a GPU as well.
void takeScalarsAsTensors(mlir::func::FuncOp step);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_SCALARARGUMENTS_H
