//===- Epilogue.cpp - What a kernel makes of its anchor's element ---------===//
//
// Between an anchor and an output all reads are one to one, so the indices of
// the output follow from those of the anchor's result.
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace ckpt;
using namespace mlir;

using Indices = SmallVector<LinearIndex>;

namespace {
/// Follows one-to-one reads from the anchor's results.
class ForwardIndices {
public:
  ForwardIndices(Operation *anchor, ArrayRef<LinearIndex> at,
                 IndexEmitter &index)
      : anchor(anchor), at(at), index(index) {}

  /// The indices at which \p tensor is made of the anchor's elements; nothing
  /// if it is not.
  std::optional<Indices> of(Value tensor) {
    auto [entry, isNew] = known.try_emplace(tensor);
    if (isNew) {
      std::optional<Indices> result = compute(tensor);
      known[tensor] = result;
      return result;
    }
    return entry->second;
  }

private:
  std::optional<Indices> compute(Value tensor) {
    Operation *op = tensor.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (op == anchor)
      return Indices(at);
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp>(
            op)) {
      auto source = of(op->getOperand(0));
      if (!source)
        return std::nullopt;
      auto shape = [](Value value) {
        return cast<ShapedType>(value.getType()).getShape();
      };
      LinearIndex position =
          index.simplify(linearize(*source, shape(op->getOperand(0))));
      return delinearize(position, shape(tensor), index);
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return throughLinalg(linalgOp, tensor);
    if (isa<tensor::CastOp>(op) || OpTrait::hasElementwiseMappableTraits(op))
      for (Value operand : op->getOperands())
        if (auto source = of(operand))
          return source;
    return std::nullopt;
  }

  std::optional<Indices> throughLinalg(linalg::LinalgOp op, Value tensor) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<ShapedType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto source = of(operand.get());
      if (!source || !map.isPermutation())
        continue;
      Indices loops(op.getNumLoops());
      for (auto [expr, at] : llvm::zip_equal(map.getResults(), *source))
        loops[cast<AffineDimExpr>(expr).getPosition()] = at;
      unsigned result = cast<OpResult>(tensor).getResultNumber();
      return applyMap(op.getMatchingIndexingMap(op.getDpsInitOperand(result)),
                      loops, index);
    }
    return std::nullopt;
  }

  Operation *anchor;
  ArrayRef<LinearIndex> at;
  IndexEmitter &index;
  llvm::DenseMap<Value, std::optional<Indices>> known;
};
} // namespace

LogicalResult ckpt::emitOutputs(KernelCode &code, TaskTarget &target,
                                ElementEmitter &emitter,
                                ArrayRef<LinearIndex> at) {
  ForwardIndices forward(code.anchor, at, emitter.indices());
  SmallVector<Value> elements;
  SmallVector<LinearIndex> positions;
  // All values before any store: an output may lie over an input.
  for (auto [tensor, argument] : code.outputs) {
    std::optional<Indices> indices = forward.of(tensor);
    if (!indices)
      return emitError(tensor.getLoc(),
                       "expected an output to be reached from the kernel's "
                       "anchor one to one");
    elements.push_back(emitter.emit(tensor, *indices));
    if (!elements.back())
      return failure();
    positions.push_back(linearize(
        *indices, cast<RankedTensorType>(tensor.getType()).getShape()));
  }
  for (auto [element, position, flat] :
       llvm::zip_equal(elements, positions, target.outputs))
    emitter.store(element, flat, position);
  return success();
}
