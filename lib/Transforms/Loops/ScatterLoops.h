//===- ScatterLoops.h - Loops that update at places of the data -*- C++ -*-===//
//
// A scatter is one kernel. Unrolled, each of its updates would be one, and the
// planner could not plan one apart from the others.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_SCATTERLOOPS_H
#define CKPT_LIB_TRANSFORMS_LOOPS_SCATTERLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ckpt {

/// Whether \p loop does nothing but insert into its carries, at places that a
/// table holds or the data name, or single elements.
bool isScatter(mlir::scf::ForOp loop);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_SCATTERLOOPS_H
