//===- FlattenBranches.h - Conditionals as selections -----------*- C++ -*-===//
//
// The planner takes a conditional for one op: all that it computes for the
// backward pass stands in memory, and nothing is fused with it. As a selection
// between values that are computed anyway it plans like `jnp.where`.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_FLATTENBRANCHES_H
#define CKPT_LIB_TRANSFORMS_LOOPS_FLATTENBRANCHES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Replaces each `scf.if` outside of loops whose branches are pure, and cost
/// together little more than the larger of them, by the ops of both branches
/// and selections of the results. Branches that look elements up at places that
/// the data name stay: the branch that is not taken may name places out of
/// range. Returns the number of conditionals that were replaced.
int64_t flattenBranches(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_FLATTENBRANCHES_H
