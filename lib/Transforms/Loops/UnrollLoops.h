//===- UnrollLoops.h - Loops with known trip counts -------------*- C++ -*-===//
//
// The planner decides on ops; a loop is one op for it. `--ckpt-prepare`
// replaces each loop whose trip count is known by its iterations, which then
// plan like the ones of a loop in Python.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_UNROLLLOOPS_H
#define CKPT_LIB_TRANSFORMS_LOOPS_UNROLLLOOPS_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Replaces each `scf.for` with constant bounds, and each counted `scf.while`,
/// by its iterations, nested loops included, and folds counters and indices.
/// Time and memory grow with the ops produced. Loops that stay:
/// - loops whose trip count only the run knows;
/// - scatters: loops that update their carries at places that the data name;
/// - loops that would take the function beyond \p limit ops produced, with a
///   remark on their size.
/// Takes the produced ops off \p limit; returns the number of unrolled loops.
int64_t unrollLoops(mlir::func::FuncOp function, int64_t &limit);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_UNROLLLOOPS_H
