//===- RematOpInterface.cpp - Defaults for ops without a model ------------===//

#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;

#include "ckpt/Interfaces/RematOpInterface.cpp.inc"

int64_t ckpt::saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? INT64_MAX : product;
}

int64_t ckpt::saturatingSum(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? INT64_MAX : sum;
}

void ckpt::appendOpaqueReads(Operation *op, SmallVectorImpl<RematRead> &reads) {
  auto destinationStyle = dyn_cast<mlir::DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands())
    reads.push_back({operand.get(), plan::Access::Any, plan::Need::Contiguous,
                     destinationStyle && destinationStyle.isDpsInit(&operand)});
  llvm::SetVector<Value> captured;
  mlir::getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    reads.push_back({value, plan::Access::Any, plan::Need::Contiguous, false});
}

int64_t ckpt::flopsOf(Operation *op) {
  if (auto described = dyn_cast<RematOpInterface>(op))
    return described.getFlops();
  int64_t flops = 0;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      flops = saturatingSum(flops, flopsOf(&inner));
  return flops;
}

OpSummary ckpt::summarize(Operation *op) {
  OpSummary summary;
  summary.flops = flopsOf(op);
  if (auto described = dyn_cast<RematOpInterface>(op)) {
    summary.kind = described.getRematKind();
    described.getReads(summary.reads);
    summary.workspaceBytes = described.getWorkspaceBytes();
    summary.hasEffects = described.hasSideEffects();
    summary.mayRepeat = !summary.hasEffects;
    return summary;
  }
  appendOpaqueReads(op, summary.reads);
  summary.hasEffects = !mlir::isMemoryEffectFree(op);
  summary.mayRepeat = mlir::isPure(op);
  return summary;
}
