//===- Program.h - The ops of a step in order, through layers ---*- C++ -*-===//
//
// `ckpt.layer` groups ops and means nothing for what is computed. Whoever reads
// a program reads it through these functions, as if the layers were not there.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_PROGRAM_H
#define CKPT_ANALYSIS_PROGRAM_H

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

/// What a layer hands out, instead of its result.
Value lookThroughLayers(Value value);

} // namespace ckpt

#endif // CKPT_ANALYSIS_PROGRAM_H
