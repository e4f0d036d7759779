//===- PrepareSteps.h - The steps of --ckpt-prepare -------------*- C++ -*-===//
//
// Each rewrites only ops that need it, and counts them: a step without such ops
// comes out unchanged. No step folds arithmetic on floats, since upstream's
// folders compute functions with the machine's library, whose bits differ from
// our kernels'.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_PREPARE_PREPARESTEPS_H
#define CKPT_LIB_TRANSFORMS_PREPARE_PREPARESTEPS_H

#include "ckpt/Transforms/Prepare.h"

namespace ckpt {

/// Puts the bodies of called functions in the place of calls, through calls of
/// their own, and erases private functions that nothing calls any more.
LogicalResult inlineCalls(mlir::func::FuncOp step, PreparationSummary &summary);

/// Loads of globals become constants. A step with state is refused.
LogicalResult readGlobals(mlir::func::FuncOp step, PreparationSummary &summary);

/// Makes constants without elements empty tensors, poison zeros, and tables of
/// complex numbers of tables of their parts.
void rewriteConstants(mlir::func::FuncOp step);

/// Writes ops that do the work of several (a softmax, a packing) as these.
void takeCompositesApart(mlir::func::FuncOp step, PreparationSummary &summary);

/// Gives tensors whose sizes are constants a static shape.
void makeShapesStatic(mlir::func::FuncOp step, PreparationSummary &summary);

/// Lets generic ops that take elements from a tensor at sums of loops read it
/// as an input: reversals become views.
void readByMaps(mlir::func::FuncOp step, PreparationSummary &summary);

/// Replaces copies, casts and slices of all by the value that they show, and
/// other reshapes by `tensor.collapse_shape` and `tensor.expand_shape`.
void simplifyViews(mlir::func::FuncOp step, PreparationSummary &summary);

/// Writes reductions without the results, and without the parts of results,
/// that nothing reads.
void dropUnread(mlir::func::FuncOp step, PreparationSummary &summary);

/// Writes generic ops that index dimensions of size one by constants without
/// these dimensions, or with loops as indices.
void indexUnitDims(mlir::func::FuncOp step, PreparationSummary &summary);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_PREPARE_PREPARESTEPS_H
