//===- Epilogue.cpp - Outputs behind the element of an anchor -------------===//
//
// Between an anchor and an output all reads are one to one, so the indices of
// the output follow from the indices of the anchor's result. The interface of
// the planner answers how an op reads: planned and emitted epilogues agree.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Kernel/Epilogue.h"
#include "ckpt/Interfaces/RematOpInterface.h"
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
    auto described = dyn_cast<RematOpInterface>(op);
    if (!described)
      return std::nullopt;
    SmallVector<RematRead> reads;
    described.getReads(reads);
    for (const RematRead &read : reads) {
      std::optional<Indices> source = of(read.value);
      if (!source)
        continue;
      if (read.access == plan::Access::Pointwise)
        return source;
      if (read.access == plan::Access::Reshape)
        return delinearize(
            index.simplify(linearize(*source, shapeOf(read.value))),
            shapeOf(tensor), index);
      if (read.access == plan::Access::Permute)
        return permute(cast<linalg::LinalgOp>(op), *source);
    }
    return std::nullopt;
  }

  /// From the indices of the source of \p op to the indices of its result.
  Indices permute(linalg::LinalgOp op, ArrayRef<LinearIndex> source) {
    AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    ArrayRef<int64_t> shape = shapeOf(op.getDpsInputOperand(0)->get());
    Indices loops(op.getNumLoops());
    for (auto [expr, size, at] :
         llvm::zip_equal(from.getResults(), shape, source)) {
      if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
        loops[loop.getPosition()] = at;
        continue;
      }
      // The dimension backwards.
      AffineExpr loop = simplifyAffineExpr(size - 1 - expr, loops.size(), 0);
      loops[cast<AffineDimExpr>(loop).getPosition()] =
          LinearIndex(size - 1) - at;
    }
    return applyMap(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), loops,
                    index);
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

/// The position in the memory of output \p tensor that belongs to the anchor's
/// indices of \p forward; nothing if there is none.
static std::optional<LinearIndex> positionIn(Value tensor,
                                             ForwardIndices &forward) {
  std::optional<Indices> indices = forward.of(tensor);
  if (!indices)
    return std::nullopt;
  return linearize(*indices,
                   cast<RankedTensorType>(tensor.getType()).getShape());
}

bool ckpt::areNeighboursInOutputs(KernelCode &code, IndexEmitter &index,
                                  ArrayRef<LinearIndex> at) {
  ForwardIndices forward(code.anchor, at, index);
  return llvm::all_of(code.outputs, [&](const auto &output) {
    std::optional<LinearIndex> position = positionIn(output.first, forward);
    return position && position->factorOf(laneAtom) == 1;
  });
}

void ckpt::prefetchOutputs(KernelCode &code, TaskTarget &target,
                           IndexEmitter &index, ArrayRef<LinearIndex> at) {
  ForwardIndices forward(code.anchor, at, index);
  for (auto [output, flat] : llvm::zip_equal(code.outputs, target.outputs))
    if (auto position = positionIn(output.first, forward))
      memref::PrefetchOp::create(target.builder, flat,
                                 ValueRange{index.materialize(*position)},
                                 /*isWrite=*/true, /*localityHint=*/2,
                                 /*isDataCache=*/true);
}
