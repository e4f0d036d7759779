//===- PushSlices.cpp - Slices before the ops that they slice -------------===//

#include "Transforms/Loops/PushSlices.h"
#include "Transforms/Loops/ForwardStacks.h"
#include "Transforms/Loops/RestrictLoop.h"
#include "Transforms/Loops/Stacks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;

/// Arguments, constants, views of them and elementwise values of these: a slice
/// of one costs its readers nothing.
static bool dependsOnArgumentsOnly(Operation &op,
                                   const llvm::DenseSet<Value> &known) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  bool isElementwise =
      generic && generic.getNumParallelLoops() == generic.getNumLoops();
  return (isElementwise ||
          isa<mlir::arith::ConstantOp, tensor::EmptyOp, linalg::FillOp,
              tensor::ExtractSliceOp, tensor::CollapseShapeOp,
              tensor::ExpandShapeOp>(op)) &&
         llvm::all_of(op.getOperands(), [&](Value operand) {
           return isa<BlockArgument>(operand) || known.contains(operand);
         });
}

/// The dimension along which all readers of \p op slice it, in parts that share
/// no row; none if there is none.
static std::optional<int64_t>
dimOfParts(linalg::GenericOp op,
           SmallVectorImpl<tensor::ExtractSliceOp> &parts) {
  ArrayRef<int64_t> shape =
      cast<mlir::RankedTensorType>(op->getResult(0).getType()).getShape();
  std::optional<int64_t> dim;
  for (Operation *reader : op->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(reader);
    std::optional<int64_t> sliced =
        slice ? slicedDim(slice, shape) : std::nullopt;
    if (!sliced || (dim && *dim != *sliced) ||
        slice.getStaticSizes()[*sliced] == 0)
      return std::nullopt;
    dim = sliced;
    parts.push_back(slice);
  }
  if (!dim)
    return std::nullopt;
  auto begins = [&](tensor::ExtractSliceOp slice) {
    return slice.getStaticOffsets()[*dim];
  };
  llvm::sort(parts, [&](auto a, auto b) { return begins(a) < begins(b); });
  for (size_t i = 1; i < parts.size(); ++i)
    if (begins(parts[i]) <
        begins(parts[i - 1]) + parts[i - 1].getStaticSizes()[*dim])
      return std::nullopt;
  return dim;
}

/// One op per slice of \p op.
static bool push(linalg::GenericOp op) {
  SmallVector<tensor::ExtractSliceOp> parts;
  if (op->getNumResults() != 1)
    return false;
  std::optional<int64_t> dim = dimOfParts(op, parts);
  if (!dim)
    return false;
  mlir::AffineMap map = op.getIndexingMapMatchingResult(op->getResult(0));
  auto loop = dyn_cast<mlir::AffineDimExpr>(map.getResult(*dim));
  if (!loop || !canRestrict(op, loop.getPosition()))
    return false;
  for (tensor::ExtractSliceOp slice : parts) {
    OpBuilder builder(op);
    LoopRange range{loop.getPosition(), slice.getStaticOffsets()[*dim],
                    slice.getStaticSizes()[*dim]};
    auto rowsOf = [&](Value value, int64_t at) {
      return sliceRows(builder, slice.getLoc(), value, at, range.begin,
                       range.size, range.drops());
    };
    Value init = rowsOf(op.getDpsInits()[0], *dim);
    Value part = restrictLoop(builder, op, range, init,
                              [&](OpOperand &operand, int64_t at) {
                                return rowsOf(operand.get(), at);
                              })
                     .getResult(0);
    if (range.drops())
      part = insertUnitDim(builder, slice.getLoc(), part, *dim);
    slice.getResult().replaceAllUsesWith(
        withDroppedDims(builder, slice.getLoc(), part, slice.getType()));
    slice.erase();
  }
  return true;
}

int64_t ckpt::pushSlices(Block &block) {
  llvm::DenseSet<Value> known;
  SmallVector<linalg::GenericOp> candidates;
  for (Operation &op : block) {
    if (!dependsOnArgumentsOnly(op, known))
      continue;
    known.insert(op.result_begin(), op.result_end());
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      candidates.push_back(generic);
  }
  // Readers first: a slice moves through all the ops before it.
  int64_t changes = 0;
  for (linalg::GenericOp op : llvm::reverse(candidates))
    changes += push(op);
  if (changes)
    eraseUnreadOps(block);
  return changes;
}
