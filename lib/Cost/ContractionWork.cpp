//===- ContractionWork.cpp - The work of matmuls and convolutions ---------===//
//
// Counts the work of the code of lib/Conversion/Cpu/EmitContraction.cpp: the
// loops that are rows, columns and steps of the sum, the number of their tiles,
// and the order in which operands lie in memory behind their views.
//
//===----------------------------------------------------------------------===//

#include "Cost/ContractionWork.h"
#include "ckpt/Analysis/StepOps.h"
#include "ckpt/Cost/Tiling.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace ckpt;
using mlir::AffineDimExpr;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::linalg::LinalgOp;

WorkType ckpt::workTypeOf(Type type) {
  type = mlir::getElementTypeOrSelf(type);
  unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 32;
  if (bits > 32)
    return WorkType::F64;
  bool isHalf = bits == 16 || (bits < 16 && isa<mlir::FloatType>(type));
  return isHalf ? WorkType::F16 : WorkType::F32;
}

//===----------------------------------------------------------------------===//
// Order in memory
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<mlir::RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// The last of the dimensions \p dims that has more than one element.
template <typename Dims>
static int64_t lastLong(ArrayRef<int64_t> shape, const Dims &dims) {
  for (int64_t dim : llvm::reverse(dims))
    if (shape[dim] != 1)
      return dim;
  return -1;
}

static int64_t lastLong(ArrayRef<int64_t> shape) {
  return lastLong(shape, llvm::to_vector(llvm::seq<int64_t>(shape.size())));
}

static int64_t throughPermutation(LinalgOp copy, int64_t dim) {
  AffineMap from = copy.getMatchingIndexingMap(copy.getDpsInputOperand(0));
  AffineMap to = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
  auto found = to.getResultPosition(from.getResult(dim));
  return found ? int64_t(*found) : -1;
}

static int64_t throughCollapse(mlir::tensor::CollapseShapeOp collapse,
                               int64_t dim) {
  ArrayRef<int64_t> shape = shapeOf(collapse.getSrc());
  for (auto [target, dims] :
       llvm::enumerate(collapse.getReassociationIndices()))
    if (llvm::is_contained(dims, dim))
      return lastLong(shape, dims) == dim ? int64_t(target) : -1;
  return -1;
}

static int64_t throughSlice(mlir::tensor::ExtractSliceOp slice, int64_t dim) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (dropped.test(dim) || slice.getStaticStrides()[dim] != 1)
    return -1;
  int64_t target = dim;
  for (int64_t before = 0; before < dim; ++before)
    target -= dropped.test(before);
  return target;
}

/// The dimension of \p view that shows the contiguous dimension \p dim.
static int64_t throughView(Operation *view, int64_t dim) {
  if (auto copy = dyn_cast<LinalgOp>(view))
    return throughPermutation(copy, dim);
  if (auto collapse = dyn_cast<mlir::tensor::CollapseShapeOp>(view))
    return throughCollapse(collapse, dim);
  if (auto expand = dyn_cast<mlir::tensor::ExpandShapeOp>(view))
    return lastLong(shapeOf(expand.getResult()),
                    expand.getReassociationIndices()[dim]);
  if (auto slice = dyn_cast<mlir::tensor::ExtractSliceOp>(view))
    return throughSlice(slice, dim);
  if (isa<mlir::tensor::PadOp>(view))
    return dim;
  bool isLast = lastLong(shapeOf(view->getOperand(0))) == dim;
  return isLast ? lastLong(shapeOf(view->getResult(0))) : -1;
}

int64_t ckpt::contiguousDim(Value value) {
  SmallVector<Operation *> views;
  value = lookThroughLayers(value);
  for (;;) {
    auto maker = value.getDefiningOp<RematOpInterface>();
    if (!maker || maker.getRematKind() != plan::OpKind::View)
      break;
    SmallVector<RematRead> reads;
    maker.getReads(reads);
    if (reads.size() != 1)
      break;
    views.push_back(maker);
    value = lookThroughLayers(reads.front().value);
  }
  int64_t dim = lastLong(shapeOf(value));
  for (Operation *view : llvm::reverse(views))
    if (dim >= 0)
      dim = throughView(view, dim);
  return dim;
}

/// The loop of \p op that dimension \p dim of \p operand follows.
static int64_t loopOf(LinalgOp op, mlir::OpOperand &operand, int64_t dim) {
  if (dim < 0)
    return -1;
  // In a window's `row + step`, the first loop with stride 1.
  AffineExpr expr = op.getMatchingIndexingMap(&operand).getResult(dim);
  int64_t loop = -1;
  expr.walk([&](AffineExpr part) {
    if (auto position = dyn_cast<AffineDimExpr>(part))
      loop = loop < 0 ? position.getPosition() : loop;
  });
  return loop;
}

int64_t ckpt::contiguousLoop(LinalgOp op, mlir::OpOperand &operand) {
  return loopOf(op, operand, contiguousDim(operand.get()));
}

int64_t ckpt::contiguousResultLoop(LinalgOp op) {
  mlir::OpOperand &init = *op.getDpsInitOperand(0);
  return loopOf(op, init, lastLong(shapeOf(init.get())));
}

//===----------------------------------------------------------------------===//
// Roles of loops
//===----------------------------------------------------------------------===//

namespace {
/// A contraction whose result lies along the columns of `right`.
struct Roles {
  mlir::OpOperand *left, *right;
  ContractionExtents extents = {1, 1, 1, 1};
  SmallVector<unsigned> rows = {}, columns = {}, reduced = {};

  /// Whether \p operand lies along one of \p loops.
  static bool liesAlong(LinalgOp op, mlir::OpOperand &operand,
                        ArrayRef<unsigned> loops) {
    int64_t loop = contiguousLoop(op, operand);
    return loop >= 0 && llvm::is_contained(loops, loop);
  }
  /// Exchanges the sides where the code makes the transpose.
  void transposeIfBetter(LinalgOp op, int64_t lanes) {
    bool isFilled =
        op.getDpsInits().front().getDefiningOp<mlir::linalg::FillOp>();
    if (!isFilled || !prefersTranspose(extents, lanes) ||
        !liesAlong(op, *left, rows) || !liesAlong(op, *right, columns))
      return;
    std::swap(left, right);
    std::swap(rows, columns);
    std::swap(extents.rows, extents.columns);
  }
};
} // namespace

static std::optional<Roles> rolesOf(LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (!out.isProjectedPermutation() || llvm::is_contained(extents, 0))
    return std::nullopt;
  Roles roles = {op.getDpsInputOperand(0), op.getDpsInputOperand(1)};
  int64_t innermost = -1;
  for (AffineExpr expr : out.getResults())
    if (unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        extents[loop] > 1)
      innermost = loop;
  if (innermost < 0)
    return std::nullopt;
  if (!op.getMatchingIndexingMap(roles.right).isFunctionOfDim(innermost))
    std::swap(roles.left, roles.right);
  AffineMap left = op.getMatchingIndexingMap(roles.left);
  AffineMap right = op.getMatchingIndexingMap(roles.right);
  for (AffineExpr expr : out.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    bool inLeft = left.isFunctionOfDim(loop);
    bool isColumn = !inLeft && right.isFunctionOfDim(loop);
    (isColumn                                ? roles.extents.columns
     : inLeft == right.isFunctionOfDim(loop) ? roles.extents.batch
                                             : roles.extents.rows) *=
        extents[loop];
    if (isColumn)
      roles.columns.push_back(loop);
    else if (inLeft && !right.isFunctionOfDim(loop))
      roles.rows.push_back(loop);
  }
  op.getReductionDims(roles.reduced);
  for (unsigned loop : roles.reduced)
    roles.extents.steps *= extents[loop];
  if (roles.extents.columns == 1)
    return std::nullopt;
  return roles;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

static int64_t product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    result = saturatingProduct(result, factor);
  return result;
}

static int64_t bytesOfElement(Type type) {
  type = mlir::getElementTypeOrSelf(type);
  return type.isIntOrFloat() ? llvm::divideCeil(type.getIntOrFloatBitWidth(), 8)
                             : 4;
}

static int64_t bytesTouched(LinalgOp op) {
  int64_t bytes = 0;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<mlir::RankedTensorType>(operand.getType()))
      bytes = saturatingSum(
          bytes, product({type.getNumElements(), bytesOfElement(type)}));
  return bytes;
}

/// How full panels of the right operand are packed.
static WorkKind packKind(LinalgOp op, const Roles &roles,
                         const Tiling &tiling) {
  int64_t loop = contiguousLoop(op, *roles.right);
  if (loop >= 0 && llvm::is_contained(roles.columns, loop))
    return WorkKind::Pack;
  bool inSquares =
      roles.reduced.size() == 1 && loop == roles.reduced.front() &&
      tiling.lanes == 16 &&
      mlir::getElementTypeOrSelf(op.getDpsInits().front().getType()).isF32();
  return inSquares ? WorkKind::PackTransposed : WorkKind::PackGathered;
}

/// Appends the work of multiplying and adding in tiles.
static void appendTiles(LinalgOp op, const Roles &roles, const Tiling &tiling,
                        SmallVectorImpl<Work> &work) {
  WorkType type = workTypeOf(roles.left->get().getType());
  int64_t loop = contiguousLoop(op, *roles.left);
  bool inOrder = loop >= 0 && llvm::is_contained(roles.reduced, loop);
  int64_t tiles = product({tiling.batch, tiling.rowBlocks, tiling.panels,
                           tiling.blockRows / tiling.tileRows});
  // A tile of few rows waits for its own sums: eight vectors of them hide it.
  int64_t vectors = std::max<int64_t>(tiling.tileRows * tiling.vectors, 8);
  work.push_back({type, WorkKind::Contraction,
                  product({2, tiles, vectors, tiling.lanes, tiling.steps})});
  work.push_back({type, WorkKind::Spread,
                  product({tiles, tiling.tileRows, tiling.steps})});
  if (inOrder || loop < 0)
    return;
  constexpr int64_t pageBytes = 4096;
  int64_t rowBytes = product({op.getStaticLoopRanges()[loop],
                              bytesOfElement(roles.left->get().getType())});
  int64_t touched =
      product({tiles, tiling.steps, std::min(rowBytes, pageBytes)});
  work.push_back(
      {type, WorkKind::Page, int64_t(llvm::divideCeil(touched, pageBytes))});
}

bool ckpt::appendTiledWork(LinalgOp op, WorkPlace place,
                           SmallVectorImpl<Work> &work) {
  std::optional<Roles> roles = rolesOf(op);
  if (!roles)
    return false;
  Type sum = mlir::getElementTypeOrSelf(op.getDpsInits().front().getType());
  // Narrow products are summed in 32 bits.
  int64_t sumBytes = std::max<int64_t>(4, sum.getIntOrFloatBitWidth() / 8);
  if (sumBytes == 4)
    roles->transposeIfBetter(op, place.lanes);
  roles->extents.leftAlongRows =
      Roles::liesAlong(op, *roles->left, roles->rows);
  Tiling tiling(roles->extents, sumBytes, place.lanes);
  WorkType type = workTypeOf(roles->left->get().getType());
  appendTiles(op, *roles, tiling, work);
  work.push_back(
      {type, WorkKind::Sums,
       product({tiling.batch, tiling.rowBlocks, tiling.blockRows, tiling.panels,
                tiling.panel, tiling.stepBlocks + 1})});

  if (!place.inCache)
    work.push_back({type, WorkKind::Fetch, bytesTouched(op)});

  int64_t perPanel =
      product({tiling.batch, tiling.rowBlocks, tiling.steps, tiling.panel});
  int64_t fullPanels = tiling.columns / tiling.panel;
  if (fullPanels > 0)
    work.push_back({type, packKind(op, *roles, tiling),
                    saturatingProduct(perPanel, fullPanels)});
  if (tiling.panels > fullPanels)
    work.push_back({type, WorkKind::PackGathered, perPanel});
  return true;
}
