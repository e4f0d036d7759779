//===- PrepareSteps.h - The steps of --ckpt-prepare -------------*- C++ -*-===//
//
// Each rewrites only ops that need it, and counts them: a step that needs
// nothing comes out as it was. No step folds arithmetic, since upstream's
// folders compute functions with the machine's library, whose bits are not
// those of our kernels.
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

/// Writes ops that do in one what several do (a softmax, a packing) as those.
void takeCompositesApart(mlir::func::FuncOp step, PreparationSummary &summary);

/// Replaces copies, casts and slices of all by the value that they show, and
/// other reshapes by `tensor.collapse_shape` and `tensor.expand_shape`.
void simplifyViews(mlir::func::FuncOp step, PreparationSummary &summary);

/// Writes generic ops that index dimensions of size one by constants without
/// those dimensions, or with loops as indices.
void indexUnitDims(mlir::func::FuncOp step, PreparationSummary &summary);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_PREPARE_PREPARESTEPS_H
