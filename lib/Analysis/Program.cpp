//===- Program.cpp - The ops of a step in order, through layers -----------===//

#include "ckpt/Analysis/Program.h"

using namespace ckpt;

static void append(Block &block, LayerOp layer,
                   SmallVectorImpl<PlacedOp> &ops) {
  for (Operation &op : block) {
    if (auto inner = dyn_cast<LayerOp>(op))
      append(inner.getBody().front(), inner, ops);
    else if (!op.hasTrait<mlir::OpTrait::IsTerminator>())
      ops.push_back({&op, layer});
  }
}

SmallVector<PlacedOp> ckpt::opsInOrder(Block &block) {
  SmallVector<PlacedOp> ops;
  append(block, nullptr, ops);
  return ops;
}

Value ckpt::lookThroughLayers(Value value) {
  while (auto layer = value.getDefiningOp<LayerOp>()) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    value = layer.getBody().front().getTerminator()->getOperand(number);
  }
  return value;
}
