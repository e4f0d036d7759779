//===- StepOps.cpp - The ops of a step in order, through layers -----------===//

#include "ckpt/Analysis/StepOps.h"
#include "ckpt/Interfaces/RematOpInterface.h"

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

static RematOpInterface makerIfView(Value value) {
  auto maker = value.getDefiningOp<RematOpInterface>();
  return maker && maker.getRematKind() == plan::OpKind::View ? maker : nullptr;
}

Value ckpt::lookThroughViews(Value value) {
  value = lookThroughLayers(value);
  while (RematOpInterface view = makerIfView(value)) {
    SmallVector<RematRead> reads;
    view.getReads(reads);
    if (reads.size() != 1)
      break; // The problem's own check says that this is no view.
    value = lookThroughLayers(reads.front().value);
  }
  return value;
}

static bool leavesLayer(LayerOp layer, Value value) {
  Operation *yield = layer.getBody().front().getTerminator();
  return llvm::any_of(yield->getOperands(), [&](Value handedOn) {
    return lookThroughViews(handedOn) == value;
  });
}

std::optional<Pin> ckpt::pinOf(const PlacedOp &placed, Value value,
                               bool isAnchor) {
  if (auto pin = placed.op->getAttrOfType<PinAttr>(CkptDialect::pinAttrName()))
    return pin.getValue();
  LayerOp layer = placed.layer;
  while (layer && !layer.getPin())
    layer = layer->getParentOfType<LayerOp>();
  if (!layer || makerIfView(value))
    return std::nullopt;
  bool handedOn = leavesLayer(layer, value);
  bool applies =
      *layer.getPin() == Pin::Save ? isAnchor || handedOn : !handedOn;
  return applies ? layer.getPin() : std::nullopt;
}
