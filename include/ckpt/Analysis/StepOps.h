//===- StepOps.h - The ops of a step in order, through layers ---*- C++ -*-===//
//
// `ckpt.layer` groups ops and means nothing for the computed values. All
// readers of a program use these functions, as if the layers were not there.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_STEPOPS_H
#define CKPT_ANALYSIS_STEPOPS_H

#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// An op and the innermost layer around it, if there is one.
struct PlacedOp {
  Operation *op;
  LayerOp layer;
};

/// All ops of a block in order; regions of layers are read in place, and
/// neither layers nor terminators are listed.
SmallVector<PlacedOp> opsInOrder(Block &block);

/// The value that a layer hands out, instead of its result.
Value lookThroughLayers(Value value);

/// The value that a view shows, through layers and other views.
Value lookThroughViews(Value value);

/// The user's demand on \p value, a result of the op: the pin of the op, else
/// the meaning of the pin of the nearest pinned layer. A layer is saved by the
/// results of its anchors and by the values that it hands on. It is recomputed
/// from its inputs, so that all values except handed-on ones are pinned. Its
/// views are not.
std::optional<Pin> pinOf(const PlacedOp &placed, Value value, bool isAnchor);

} // namespace ckpt

#endif // CKPT_ANALYSIS_STEPOPS_H
