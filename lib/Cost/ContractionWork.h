//===- ContractionWork.h - The work of matmuls and convolutions -*- C++ -*-===//
//
// Work.h counts an op by kind; matmuls and convolutions that the lowering cuts
// into tiles are counted here, tile by tile.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_COST_CONTRACTIONWORK_H
#define CKPT_LIB_COST_CONTRACTIONWORK_H

#include "ckpt/Cost/Work.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ckpt {

/// Size of the elements of \p type, as a device sees it.
WorkType workTypeOf(Type type);

/// The dimension of \p value along which neighbours lie side by side in memory,
/// views looked through; -1 if there is none.
int64_t contiguousDim(Value value);

/// The loop of \p op along which neighbours of \p operand lie side by side; -1
/// if there is none.
int64_t contiguousLoop(mlir::linalg::LinalgOp op, mlir::OpOperand &operand);

/// The same of the first result, whose elements are in order.
int64_t contiguousResultLoop(mlir::linalg::LinalgOp op);

/// Appends the work of a contraction that is cut into tiles. Returns false, and
/// appends nothing, for one that is not.
bool appendTiledWork(mlir::linalg::LinalgOp op, WorkPlace place,
                     SmallVectorImpl<Work> &work);

} // namespace ckpt

#endif // CKPT_LIB_COST_CONTRACTIONWORK_H
