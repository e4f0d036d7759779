//===- RestrictLoop.cpp - An op on a part of its loop nest ----------------===//

#include "Transforms/Loops/RestrictLoop.h"
#include "mlir/IR/IRMapping.h"

using namespace ckpt;
namespace linalg = mlir::linalg;

std::optional<int64_t> ckpt::dimOfLoop(mlir::AffineMap map, unsigned loop) {
  for (auto [position, expr] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr);
        dim && dim.getPosition() == loop)
      return position;
  return std::nullopt;
}

bool ckpt::canRestrict(linalg::GenericOp op, unsigned loop) {
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
    return false;
  for (mlir::AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
  return !op.getBody()
              ->walk([&](linalg::IndexOp index) {
                return index.getDim() == loop ? mlir::WalkResult::interrupt()
                                              : mlir::WalkResult::advance();
              })
              .wasInterrupted();
}

/// \p map without \p loop.
static mlir::AffineMap withoutLoop(mlir::AffineMap map, unsigned loop) {
  SmallVector<mlir::AffineExpr> results;
  for (mlir::AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<mlir::AffineDimExpr>(expr);
    if (!dim || dim.getPosition() < loop)
      results.push_back(expr);
    else if (dim.getPosition() > loop)
      results.push_back(
          mlir::getAffineDimExpr(dim.getPosition() - 1, map.getContext()));
  }
  return mlir::AffineMap::get(map.getNumDims() - 1, 0, results,
                              map.getContext());
}

linalg::GenericOp ckpt::restrictLoop(OpBuilder &builder, linalg::GenericOp op,
                                     const LoopRange &range, ValueRange inits,
                                     RowsOf rowsOf) {
  SmallVector<mlir::AffineMap> maps = op.getIndexingMapsArray();
  auto iterators = op.getIteratorTypesArray();
  SmallVector<Value> inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<int64_t> dim =
        dimOfLoop(op.getMatchingIndexingMap(input), range.loop);
    inputs.push_back(dim ? rowsOf(*input, *dim) : input->get());
  }
  if (range.drops()) {
    for (mlir::AffineMap &map : maps)
      map = withoutLoop(map, range.loop);
    iterators.erase(iterators.begin() + range.loop);
  }
  auto part = linalg::GenericOp::create(builder, op.getLoc(), inits.getTypes(),
                                        inputs, inits, maps, iterators);
  part->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  mlir::IRMapping mapping;
  op.getRegion().cloneInto(&part.getRegion(), mapping);
  if (range.drops())
    part.getBody()->walk([&](linalg::IndexOp index) {
      if (index.getDim() > range.loop)
        index.setDim(index.getDim() - 1);
    });
  return part;
}
