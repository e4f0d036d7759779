//===- ForwardStacks.cpp - From stacked pieces to their slices ------------===//

#include "Transforms/Loops/ForwardStacks.h"
#include "Transforms/Loops/Stacks.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::RankedTensorType;

/// Which piece goes into a stack is a broadcast into a new dimension of size
/// one when JAX writes it. It moves nothing: a view says so.
static bool viewUnitBroadcast(linalg::GenericOp op) {
  bool isStacked = llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<tensor::InsertSliceOp, tensor::ConcatOp>(user);
  });
  if (op.getNumDpsInputs() != 1 || op->getNumResults() != 1 || !isStacked ||
      op.getNumParallelLoops() != op.getNumLoops())
    return false;
  auto yield = op.getBody()->getTerminator();
  if (yield->getOperand(0) != op.getBody()->getArgument(0))
    return false;
  auto from = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
  auto to = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto maps = op.getIndexingMapsArray();
  if (!from || !to || !to.hasStaticShape() || !maps[1].isIdentity() ||
      from.getNumElements() != to.getNumElements() ||
      from.getRank() >= to.getRank())
    return false;
  int64_t next = 0;
  for (mlir::AffineExpr expr : maps[0].getResults()) {
    auto dim = dyn_cast<mlir::AffineDimExpr>(expr);
    if (!dim || dim.getPosition() < next)
      return false;
    next = dim.getPosition() + 1;
  }
  auto groups =
      mlir::getReassociationIndicesForCollapse(to.getShape(), from.getShape());
  if (from.getRank() == 0)
    groups = SmallVector<mlir::ReassociationIndices>();
  if (!groups)
    return false;
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(tensor::ExpandShapeOp::create(
      builder, op.getLoc(), to, op.getInputs()[0], *groups));
  return true;
}

/// The elements of \p slice, taken from the piece that holds them; null if
/// several do.
static Value forwarded(tensor::ExtractSliceOp slice, const Stack &stack) {
  bool isStatic = llvm::all_of(slice.getStaticStrides(),
                               [](int64_t s) { return s == 1; }) &&
                  !mlir::ShapedType::isDynamicShape(slice.getStaticOffsets()) &&
                  !mlir::ShapedType::isDynamicShape(slice.getStaticSizes());
  if (!isStatic)
    return {};
  SmallVector<int64_t> offsets(slice.getStaticOffsets());
  ArrayRef<int64_t> sizes = slice.getStaticSizes();
  const Piece *piece = stack.find(offsets[stack.dim], sizes[stack.dim]);
  if (!piece || piece->source == slice.getSource())
    return {};
  OpBuilder builder(slice);
  offsets[stack.dim] += piece->offset - piece->begin;
  auto rows = slice.getSourceType().clone(sizes);
  if (!piece->source)
    return withDroppedDims(builder, slice.getLoc(),
                           pieceValue(builder, slice.getLoc(), rows, stack.dim,
                                      {0, sizes[stack.dim], Value()}),
                           slice.getType());
  auto source = cast<RankedTensorType>(piece->source.getType());
  bool isAll = source.getShape() == sizes;
  if (isAll || offsets.size() == 1)
    return withDroppedDims(builder, slice.getLoc(),
                           sliceRows(builder, slice.getLoc(), piece->source,
                                     stack.dim, offsets[stack.dim],
                                     sizes[stack.dim]),
                           slice.getType());
  auto folded = [&](ArrayRef<int64_t> values) {
    return mlir::getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return tensor::ExtractSliceOp::create(
      builder, slice.getLoc(), slice.getType(), piece->source, folded(offsets),
      folded(sizes), slice.getMixedStrides());
}

/// Whether only the chain of insertions that ends in \p last reads the values
/// in between.
static bool readsOnlyItself(tensor::InsertSliceOp last) {
  Value dest = last.getDest();
  while (auto insert = dest.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!dest.hasOneUse())
      return false;
    dest = insert.getDest();
  }
  return true;
}

/// One op for a whole chain of insertions, where they fill the tensor.
static bool concatenate(tensor::InsertSliceOp last, const Stack *stack) {
  if (!stack || last->use_empty() || !readsOnlyItself(last) ||
      llvm::any_of(stack->pieces, [&](const Piece &piece) {
        return stack->base && piece.source == stack->base;
      }))
    return false;
  OpBuilder builder(last);
  SmallVector<Value> pieces;
  for (const Piece &piece : stack->pieces)
    pieces.push_back(
        pieceValue(builder, last.getLoc(), last.getType(), stack->dim, piece));
  last.getResult().replaceAllUsesWith(
      pieces.size() == 1
          ? pieces[0]
          : tensor::ConcatOp::create(builder, last.getLoc(), last.getType(),
                                     stack->dim, pieces));
  return true;
}

/// Merges views of views, so that a piece which was put into a stack and taken
/// out again is the value that it was.
static void mergeViews(Block &block) {
  SmallVector<Operation *> views;
  for (Operation &op : block)
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      views.push_back(&op);
  if (views.empty())
    return;
  MLIRContext *context = views.front()->getContext();
  mlir::RewritePatternSet patterns(context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  (void)mlir::applyOpPatternsGreedily(views, std::move(patterns));
}

/// Whether \p value shows one padded value: zeros around it make no stack.
static bool isPaddedValue(Value value, const Stacks &stacks) {
  bool isPadded = false;
  while (Operation *maker = value.getDefiningOp()) {
    if (!isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp>(maker))
      break;
    isPadded |= isa<tensor::PadOp>(maker);
    value = maker->getOperand(0);
  }
  return isPadded && !stacks.find(value);
}

int64_t ckpt::forwardStacks(Block &block) {
  Stacks stacks;
  int64_t changes = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto broadcast = dyn_cast<linalg::GenericOp>(op))
      changes += viewUnitBroadcast(broadcast);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
        slice && !isPaddedValue(slice.getSource(), stacks))
      if (const Stack *stack = stacks.find(slice.getSource()))
        if (Value value = forwarded(slice, *stack)) {
          slice.getResult().replaceAllUsesWith(value);
          slice.erase();
          ++changes;
          continue;
        }
    stacks.read(op);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      changes += concatenate(insert, stacks.find(insert.getResult()));
  stacks.clear();
  if (changes) {
    eraseUnreadOps(block);
    mergeViews(block);
  }
  return changes;
}

void ckpt::eraseUnreadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}
