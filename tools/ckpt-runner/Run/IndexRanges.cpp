//===- IndexRanges.cpp - Integers that a step uses as indices -------------===//
//
// Follows each integer argument through integer values to the gathers and
// scatters that use it, so that inputs from a seed stay within their tables.
//
//===----------------------------------------------------------------------===//

#include "Run/IndexRanges.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace ckpt;

namespace {
/// The values into which one argument flows, and the extents that it indexes.
class IndexUses {
public:
  explicit IndexUses(BlockArgument argument) { derived.insert(argument); }

  void visit(Operation *op);
  int64_t extent() const { return smallest; }

private:
  bool isDerived(Value value) const { return derived.contains(value); }
  void note(mlir::RankedTensorType table, unsigned dimension) {
    int64_t extent = table.getDimSize(dimension);
    if (extent > 0)
      smallest = smallest ? std::min(smallest, extent) : extent;
  }
  void noteIndices(mlir::RankedTensorType table, ValueRange indices) {
    for (auto [dimension, index] : llvm::enumerate(indices))
      if (isDerived(index))
        note(table, dimension);
  }
  void noteOffsets(mlir::RankedTensorType table,
                   ArrayRef<mlir::OpFoldResult> offsets) {
    for (auto [dimension, offset] : llvm::enumerate(offsets))
      if (auto value = dyn_cast<Value>(offset); value && isDerived(value))
        note(table, dimension);
  }

  llvm::DenseSet<Value> derived;
  int64_t smallest = 0;
};
} // namespace

void IndexUses::visit(Operation *op) {
  if (auto extract = dyn_cast<mlir::tensor::ExtractOp>(op))
    noteIndices(extract.getTensor().getType(), extract.getIndices());
  else if (auto insert = dyn_cast<mlir::tensor::InsertOp>(op))
    noteIndices(insert.getDest().getType(), insert.getIndices());
  else if (auto slice = dyn_cast<mlir::tensor::ExtractSliceOp>(op))
    noteOffsets(slice.getSourceType(), slice.getMixedOffsets());
  else if (auto slice = dyn_cast<mlir::tensor::InsertSliceOp>(op))
    noteOffsets(slice.getDestType(), slice.getMixedOffsets());

  if (llvm::none_of(op->getOperands(), [&](Value v) { return isDerived(v); }))
    return;
  if (auto linalgOp = dyn_cast<mlir::linalg::LinalgOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (isDerived(operand.get()))
        derived.insert(linalgOp.getMatchingBlockArgument(&operand));
  for (OpResult result : op->getResults()) {
    // Conditions are not indices, and neither are looked-up values.
    Type element = mlir::getElementTypeOrSelf(result.getType());
    if (element.isIntOrIndex() && !element.isInteger(1))
      derived.insert(result);
  }
}

SmallVector<int64_t> ckpt::indexedExtents(mlir::func::FuncOp function) {
  SmallVector<int64_t> extents;
  for (BlockArgument argument : function.getArguments()) {
    IndexUses uses(argument);
    if (mlir::getElementTypeOrSelf(argument.getType()).isInteger())
      function.walk<mlir::WalkOrder::PreOrder>(
          [&](Operation *op) { uses.visit(op); });
    extents.push_back(uses.extent());
  }
  return extents;
}
