//===- IndexRanges.h - Integers that a step uses as indices -----*- C++ -*-===//
//
// Arguments that a seed makes have to be valid indices; this finds the ranges
// in the program, before it is rewritten.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_INDEXRANGES_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_INDEXRANGES_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// For each argument of \p function the smallest extent of a dimension that it
/// indexes (token ids index the rows of an embedding), or 0 if it indexes none.
/// Integer arithmetic on the argument counts as the argument.
SmallVector<int64_t> indexedExtents(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_INDEXRANGES_H
