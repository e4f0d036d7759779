//===- IndexUnitDims.cpp - Dimensions of size one -------------------------===//
//
// Frontends read and write a dimension of size one at the constant 0:
// `(d0, d1) -> (d0, 0)` is a reduction that keeps its dimension. Kernels follow
// indices from their anchor to their results and back, for which every result
// has to be indexed by loops.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using linalg::ControlDropUnitDims;
using mlir::AffineMap;
using mlir::RankedTensorType;

/// Whether every result has one index for each parallel loop.
static bool writesByLoops(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return map.isProjectedPermutation() &&
           map.getNumResults() == op.getNumParallelLoops();
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// \p value with the dimensions left out that \p groups join. Views of
/// constants and of undefined contents are others of the new shape.
static FailureOr<Value> collapse(mlir::RewriterBase &rewriter,
                                 mlir::Location loc, Value value,
                                 ArrayRef<int64_t> shape,
                                 ArrayRef<mlir::ReassociationIndices> groups) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getEncoding())
    return failure();
  RankedTensorType smaller = type.clone(shape);
  mlir::SplatElementsAttr splat;
  if (mlir::matchPattern(value, mlir::m_Constant(&splat)))
    return mlir::arith::ConstantOp::create(rewriter, loc,
                                           splat.resizeSplat(smaller))
        .getResult();
  if (value.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType())
        .getResult();
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
    return linalg::FillOp::create(rewriter, loc, fill.value(), empty)
        .getResult(0);
  }
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>();
      expand && expand.getSrcType() == smaller)
    return expand.getSrc();
  return tensor::CollapseShapeOp::create(rewriter, loc, smaller, value, groups)
      .getResult();
}

/// Cuts inputs to what \p op reads where a sum of loops, such as `d1 + d0 * 2`,
/// is a single loop without those over one element: with a plain index, an
/// input may not be longer than its loop.
static void cutInputs(mlir::RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<mlir::AffineExpr> loops;
  for (auto [number, extent] : llvm::enumerate(extents))
    loops.push_back(extent == 1 ? rewriter.getAffineConstantExpr(0)
                                : rewriter.getAffineDimExpr(number));
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type || !type.hasStaticShape())
      continue;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [size, index] :
         llvm::zip_equal(shape, op.getMatchingIndexingMap(input).getResults()))
      if (auto loop = dyn_cast<mlir::AffineDimExpr>(index.replaceDims(loops)))
        size = extents[loop.getPosition()];
    if (ArrayRef<int64_t>(shape) == type.getShape())
      continue;
    SmallVector<mlir::OpFoldResult> begins(shape.size(),
                                           rewriter.getIndexAttr(0)),
        steps(shape.size(), rewriter.getIndexAttr(1));
    input->set(tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), input->get(), begins,
        mlir::getAsIndexOpFoldResult(op.getContext(), shape), steps));
  }
}

/// Leaves out the dimensions of size one, and the loops over them.
static LogicalResult dropUnitDims(mlir::RewriterBase &rewriter,
                                  linalg::GenericOp op) {
  ControlDropUnitDims control;
  // An empty list would mean that the op is to be left alone.
  control.controlFn = [&](Operation *) {
    return llvm::to_vector(
        llvm::seq<unsigned>(0, std::max(1u, op.getNumLoops())));
  };
  control.collapseFn = [](mlir::RewriterBase &rewriter, mlir::Location loc,
                          Value value, ArrayRef<int64_t> shape,
                          ArrayRef<mlir::ReassociationIndices> groups,
                          const ControlDropUnitDims &) {
    return collapse(rewriter, loc, value, shape, groups);
  };
  cutInputs(rewriter, op);
  FailureOr<linalg::DropUnitDimsResult> dropped =
      linalg::dropUnitDims(rewriter, op, control);
  if (failed(dropped))
    return failure();
  rewriter.replaceOp(op, dropped->replacements);
  return success();
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Whether \p input of an op that makes one element at a time has the shape of
/// the result and is read at the index of the result, in all dimensions of more
/// than one.
static bool isReadInPlace(linalg::GenericOp op, OpOperand &input) {
  auto type = dyn_cast<RankedTensorType>(input.get().getType());
  OpOperand &init = *op.getDpsInitOperand(0);
  auto result = dyn_cast<RankedTensorType>(init.get().getType());
  if (!type || !result || type.getShape() != result.getShape())
    return false;
  return llvm::all_of(
      llvm::zip_equal(type.getShape(),
                      op.getMatchingIndexingMap(&input).getResults(),
                      op.getMatchingIndexingMap(&init).getResults()),
      [](auto dim) {
        auto [size, from, to] = dim;
        return size == 1 || from == to;
      });
}

/// Lets inputs that are read in place have the map of the result.
static bool alignInputs(linalg::GenericOp op) {
  if (!op.isAllParallelLoops() || op.getNumDpsInits() == 0 ||
      !op.hasPureTensorSemantics())
    return false;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!map.isPermutation())
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands())
    if (isReadInPlace(op, *input))
      maps[input->getOperandNumber()] = map;
  if (maps == op.getIndexingMapsArray())
    return false;
  op.setIndexingMapsAttr(
      mlir::Builder(op.getContext()).getAffineMapArrayAttr(maps));
  return true;
}

void ckpt::indexUnitDims(mlir::func::FuncOp step, PreparationSummary &summary) {
  SmallVector<linalg::GenericOp> ops;
  step.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  mlir::IRRewriter rewriter(step.getContext());
  for (linalg::GenericOp op : ops) {
    rewriter.setInsertionPoint(op);
    bool isChanged = op.hasPureTensorSemantics() && !writesByLoops(op) &&
                     succeeded(dropUnitDims(rewriter, op));
    summary.unitDims += isChanged || alignInputs(op);
  }
}
