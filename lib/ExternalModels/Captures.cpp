//===- Captures.cpp - Values that bodies take from around them ------------===//

#include "Captures.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
using plan::Access;
using plan::Need;

void ckpt::appendCaptures(Operation *op, bool isFusible,
                          SmallVectorImpl<RematRead> &reads) {
  llvm::SetVector<Value> scalars;
  mlir::visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *operand) {
    bool isElement = isa<mlir::tensor::ExtractOp>(operand->getOwner());
    if (!isa<mlir::TensorType>(operand->get().getType()))
      scalars.insert(operand->get());
    else
      reads.push_back({operand->get(), isElement ? Access::Gather : Access::Any,
                       isElement && isFusible ? Need::Inline : Need::Memory});
  });
  for (Value scalar : scalars)
    reads.push_back({scalar, Access::Any, Need::Inline});
}
