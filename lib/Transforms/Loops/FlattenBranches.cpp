//===- FlattenBranches.cpp - Conditionals as selections -------------------===//

#include "Transforms/Loops/FlattenBranches.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;

/// Both branches run where one did: together they may cost a quarter more than
/// the larger one.
constexpr int64_t smallestRatio = 4;

/// Whether \p op may run although the branch that it stands in is not taken.
static bool mayRunUntaken(Operation *op) {
  bool looksUp = isa<tensor::ExtractOp, tensor::InsertOp>(op);
  if (auto slice = dyn_cast<mlir::OffsetSizeAndStrideOpInterface>(op))
    looksUp = mlir::ShapedType::isDynamicShape(slice.getStaticOffsets());
  if (looksUp && op->getNumOperands() > 1)
    return false;
  return op->hasTrait<mlir::OpTrait::IsTerminator>() ||
         (mlir::isMemoryEffectFree(op) && mlir::isSpeculatable(op));
}

static int64_t workOf(Region &region) {
  int64_t work = 0;
  for (Operation &op : region.getOps())
    work = saturatingSum(work, flopsOf(&op));
  return work;
}

/// Whether \p op computes its results element by element, or shows values.
static bool isElementwise(Operation &op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.isAllParallelLoops();
  return op.hasTrait<mlir::OpTrait::IsTerminator>() ||
         mlir::OpTrait::hasElementwiseMappableTraits(&op) ||
         isa<tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::FromElementsOp, tensor::ExtractSliceOp>(op) ||
         op.hasTrait<mlir::OpTrait::ConstantLike>();
}

static bool mayFlatten(scf::IfOp op) {
  if (op.getNumResults() == 0 ||
      op->getParentOfType<mlir::LoopLikeOpInterface>())
    return false;
  for (Type type : op.getResultTypes())
    if (auto tensor = dyn_cast<mlir::TensorType>(type);
        tensor ? !tensor.hasStaticShape() : !type.isIntOrIndexOrFloat())
      return false;
  bool isElement = true, mayRun = true;
  for (Region *region : op.getRegions()) {
    for (Operation &inner : region->getOps())
      isElement &= isElementwise(inner);
    region->walk([&](Operation *inner) { mayRun &= mayRunUntaken(inner); });
  }
  int64_t taken = workOf(op.getThenRegion()),
          other = workOf(op.getElseRegion());
  return mayRun && (isElement || std::min(taken, other) <=
                                     std::max(taken, other) / smallestRatio);
}

/// \p condition as a tensor without dimensions.
static Value conditionTensor(OpBuilder &builder, Location loc,
                             Value condition) {
  auto extract = condition.getDefiningOp<tensor::ExtractOp>();
  if (extract && extract.getIndices().empty())
    return extract.getTensor();
  auto type = mlir::RankedTensorType::get({}, condition.getType());
  return tensor::FromElementsOp::create(builder, loc, type, condition);
}

static Value select(OpBuilder &builder, Location loc, Value condition,
                    Value whenTrue, Value whenFalse) {
  if (whenTrue == whenFalse)
    return whenTrue;
  auto type = dyn_cast<mlir::RankedTensorType>(whenTrue.getType());
  if (!type)
    return mlir::arith::SelectOp::create(builder, loc, condition, whenTrue,
                                         whenFalse);
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  auto identity = builder.getMultiDimIdentityMap(type.getRank());
  auto one = mlir::AffineMap::get(type.getRank(), 0, builder.getContext());
  SmallVector<mlir::utils::IteratorType> loops(
      type.getRank(), mlir::utils::IteratorType::parallel);
  Value inputs[] = {conditionTensor(builder, loc, condition), whenTrue,
                    whenFalse};
  return linalg::GenericOp::create(
             builder, loc, type, inputs, empty,
             ArrayRef<mlir::AffineMap>{one, identity, identity, identity},
             loops,
             [](OpBuilder &builder, Location loc, ValueRange elements) {
               Value chosen = mlir::arith::SelectOp::create(
                   builder, loc, elements[0], elements[1], elements[2]);
               linalg::YieldOp::create(builder, loc, chosen);
             })
      .getResult(0);
}

static void flatten(scf::IfOp op) {
  for (Region *region : op.getRegions())
    for (Operation &inner :
         llvm::make_early_inc_range(region->front().without_terminator()))
      inner.moveBefore(op);
  OpBuilder builder(op);
  for (auto [result, whenTrue, whenFalse] :
       llvm::zip_equal(op.getResults(), op.thenYield().getOperands(),
                       op.elseYield().getOperands()))
    result.replaceAllUsesWith(
        select(builder, op.getLoc(), op.getCondition(), whenTrue, whenFalse));
  op.erase();
}

int64_t ckpt::flattenBranches(mlir::func::FuncOp function) {
  // Inner conditionals first, so that the outer ones are judged without them.
  SmallVector<scf::IfOp> branches;
  function.walk([&](scf::IfOp op) { branches.push_back(op); });
  int64_t count = 0;
  for (scf::IfOp op : branches) {
    if (!mayFlatten(op))
      continue;
    flatten(op);
    ++count;
  }
  return count;
}
