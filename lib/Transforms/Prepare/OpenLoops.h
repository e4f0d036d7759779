//===- OpenLoops.h - Loops and branches as the ops in them ------*- C++ -*-===//
//
// The part of `--ckpt-prepare` for control flow. The planner decides on ops and
// takes a loop for one; opened, a step whose layers are a loop plans like one
// whose layers are written one after another.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_PREPARE_OPENLOOPS_H
#define CKPT_LIB_TRANSFORMS_PREPARE_OPENLOOPS_H

#include "ckpt/Transforms/Prepare.h"

namespace ckpt {

/// Unrolls the loops of \p function whose trip counts are known, as far as \p
/// unrollLimit produced ops allow. Forwards stacked pieces to their readers,
/// and splits ops on stacks, also in loops that the frontend unrolled.
void openLoops(mlir::func::FuncOp function, int64_t unrollLimit,
               PreparationSummary &summary);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_PREPARE_OPENLOOPS_H
