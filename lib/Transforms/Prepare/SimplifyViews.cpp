//===- SimplifyViews.cpp - Views of values that are there already ---------===//
//
// Copies, casts and slices of all become the value that they show; other ops
// that only change the shape become `tensor.collapse_shape` and
// `tensor.expand_shape`.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;
namespace bufferization = mlir::bufferization;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::RankedTensorType;

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// \p value in the shape of \p type: itself, a reshape, or two through one
/// dimension. Without elements there is nothing to read.
static Value reshape(OpBuilder &builder, mlir::Location loc, Value value,
                     RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  if (type.getNumElements() == 0)
    return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                   type.getElementType(), type.getEncoding());
  auto groups = mlir::getReassociationIndicesForReshape(from, type);
  if (groups && from.getRank() > type.getRank())
    return tensor::CollapseShapeOp::create(builder, loc, type, value, *groups);
  if (groups && from.getRank() < type.getRank())
    return tensor::ExpandShapeOp::create(builder, loc, type, value, *groups);
  auto flat = RankedTensorType::get({from.getNumElements()},
                                    from.getElementType(), from.getEncoding());
  return reshape(builder, loc, reshape(builder, loc, value, flat), type);
}

/// Whether \p permutation leaves all dimensions of \p shape in their order
/// that have more than one index.
static bool keepsOrder(ArrayRef<int64_t> permutation, ArrayRef<int64_t> shape) {
  int64_t last = -1;
  for (int64_t dim : permutation) {
    if (shape[dim] == 1)
      continue;
    if (dim < last)
      return false;
    last = dim;
  }
  return true;
}

/// The part of a tensor that a slice names, with constants as numbers.
namespace {
struct Part {
  Part(mlir::OffsetSizeAndStrideOpInterface slice, RankedTensorType whole)
      : offsets(slice.getMixedOffsets()), sizes(slice.getStaticSizes()),
        strides(slice.getStaticStrides()), whole(whole) {
    gainsNumbers = succeeded(mlir::foldDynamicIndexList(offsets));
  }

  bool isStatic() const {
    return whole.hasStaticShape() && mlir::ShapedType::isStaticShape(sizes) &&
           mlir::ShapedType::isStaticShape(strides);
  }

  bool isAll() const {
    return sizes == whole.getShape() &&
           llvm::all_of(
               offsets,
               [](auto offset) { return mlir::isZeroInteger(offset); }) &&
           llvm::all_of(strides, [](int64_t stride) { return stride == 1; });
  }

  /// Whether it lies within the tensor, as far as numbers tell.
  bool isInside() const {
    return llvm::all_of(
        llvm::zip_equal(offsets, sizes, strides, whole.getShape()),
        [](auto dim) {
          auto [offset, size, stride, extent] = dim;
          std::optional<int64_t> first = mlir::getConstantIntValue(offset);
          return !first ||
                 (*first >= 0 && *first + (size - 1) * stride < extent);
        });
  }

  SmallVector<mlir::OpFoldResult> offsets;
  ArrayRef<int64_t> sizes, strides;
  RankedTensorType whole;
  bool gainsNumbers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Op by op
//===----------------------------------------------------------------------===//

/// The value that a structured op of all-parallel loops hands on: one of its
/// shape, or of another in the same order of elements.
static Value handedOn(OpBuilder &builder, linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !op.hasPureTensorSemantics() || !op.isAllParallelLoops())
    return Value();
  Block *body = op.getBlock();
  if (!llvm::hasSingleElement(*body) ||
      body->getTerminator()->getOperand(0) != body->getArgument(0))
    return Value();
  OpOperand *input = op.getDpsInputOperand(0), *init = op.getDpsInitOperand(0);
  mlir::AffineMap from = op.getMatchingIndexingMap(input);
  mlir::AffineMap to = op.getMatchingIndexingMap(init);
  auto type = dyn_cast<RankedTensorType>(input->get().getType());
  if (!type || !from.isPermutation() || !to.isPermutation())
    return Value();
  SmallVector<int64_t> permutation;
  for (mlir::AffineExpr index :
       from.compose(mlir::inversePermutation(to)).getResults())
    permutation.push_back(cast<mlir::AffineDimExpr>(index).getPosition());
  // It leads from the result to the input.
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(init->get().getType()).getShape();
  if (!keepsOrder(permutation, shape))
    return Value();
  return reshape(builder, op.getLoc(), input->get(),
                 cast<RankedTensorType>(op->getResult(0).getType()));
}

static Value shownBy(OpBuilder &builder, tensor::CastOp cast) {
  if (cast.getSource().getType() == cast.getType())
    return cast.getSource();
  auto before = cast.getSource().getDefiningOp<tensor::CastOp>();
  if (before && before.getSource().getType() == cast.getType())
    return before.getSource();
  return Value();
}

static Value shownBy(OpBuilder &builder, tensor::ReshapeOp op) {
  if (!isStaticTensor(op.getSource().getType()) ||
      !isStaticTensor(op.getType()))
    return Value();
  return reshape(builder, op.getLoc(), op.getSource(),
                 cast<RankedTensorType>(op.getType()));
}

static Value shownBy(OpBuilder &builder, tensor::ExtractSliceOp slice) {
  Part part(slice, slice.getSourceType());
  if (!part.isStatic())
    return Value();
  if (part.isAll())
    return reshape(builder, slice.getLoc(), slice.getSource(), slice.getType());
  if (!part.gainsNumbers || !part.isInside())
    return Value();
  return tensor::ExtractSliceOp::create(
      builder, slice.getLoc(), slice.getType(), slice.getSource(), part.offsets,
      slice.getMixedSizes(), slice.getMixedStrides());
}

static Value shownBy(OpBuilder &builder, tensor::InsertSliceOp slice) {
  Part part(slice, slice.getDestType());
  if (!part.isStatic())
    return Value();
  if (part.isAll())
    return reshape(builder, slice.getLoc(), slice.getSource(), part.whole);
  if (!part.gainsNumbers || !part.isInside())
    return Value();
  return tensor::InsertSliceOp::create(
      builder, slice.getLoc(), slice.getSource(), slice.getDest(), part.offsets,
      slice.getMixedSizes(), slice.getMixedStrides());
}

static Value shownBy(OpBuilder &builder, tensor::PadOp pad) {
  bool isNothing = pad.hasZeroLowPad() && pad.hasZeroHighPad();
  return isNothing && pad.getSourceType() == pad.getType() ? pad.getSource()
                                                           : Value();
}

static Value shownBy(OpBuilder &builder, tensor::ConcatOp concat) {
  bool isOne = concat.getInputs().size() == 1 &&
               concat.getInputs().front().getType() == concat.getType();
  return isOne ? concat.getInputs().front() : Value();
}

static Value shownBy(OpBuilder &builder, tensor::DimOp dim) {
  std::optional<int64_t> position = dim.getConstantIndex();
  auto isKnownIn = [&](Value source) {
    auto type = dyn_cast<RankedTensorType>(source.getType());
    return type && position && *position >= 0 && *position < type.getRank() &&
           !type.isDynamicDim(*position);
  };
  Value source = dim.getSource();
  while (!isKnownIn(source)) {
    auto cast = source.getDefiningOp<tensor::CastOp>();
    if (!cast)
      return Value();
    source = cast.getSource();
  }
  auto type = cast<RankedTensorType>(source.getType());
  return mlir::arith::ConstantIndexOp::create(builder, dim.getLoc(),
                                              type.getDimSize(*position));
}

//===----------------------------------------------------------------------===//
// Bufferization's ops on tensors
//===----------------------------------------------------------------------===//

static Value shownBy(OpBuilder &builder, bufferization::AllocTensorOp alloc) {
  if (alloc.getCopy())
    return alloc.getCopy();
  if (!alloc.getDynamicSizes().empty())
    return Value();
  return tensor::EmptyOp::create(builder, alloc.getLoc(),
                                 alloc.getType().getShape(),
                                 alloc.getType().getElementType());
}

static Value shownBy(OpBuilder &builder,
                     bufferization::MaterializeInDestinationOp op) {
  return op.getResult() ? op.getSource() : Value();
}

/// A buffer that nothing else sees holds its tensor throughout.
static Value shownBy(OpBuilder &builder, bufferization::ToTensorOp op) {
  auto buffer = op.getBuffer().getDefiningOp<bufferization::ToBufferOp>();
  bool isPrivate =
      buffer && llvm::all_of(buffer->getUsers(), [](Operation *user) {
        return isa<bufferization::ToTensorOp>(user);
      });
  return isPrivate && buffer.getTensor().getType() == op.getType()
             ? buffer.getTensor()
             : Value();
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// A view of undefined contents is undefined, too, except for padding. Reshapes
/// stay: they can share a buffer with their source.
static Value undefined(OpBuilder &builder, Operation *op) {
  auto view = dyn_cast<RematOpInterface>(op);
  if (!view || isa<tensor::PadOp>(op) || op->getNumResults() != 1 ||
      view.getRematKind() != plan::OpKind::View ||
      !isStaticTensor(op->getResult(0).getType()))
    return Value();
  SmallVector<RematRead> reads;
  view.getReads(reads);
  if (reads.size() != 1 || reads[0].access == plan::Access::Reshape ||
      !reads[0].value.getDefiningOp<tensor::EmptyOp>())
    return Value();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return tensor::EmptyOp::create(builder, op->getLoc(), type.getShape(),
                                 type.getElementType(), type.getEncoding());
}

/// The value that \p op shows, if it needs no op or simpler ones.
static Value shownBy(OpBuilder &builder, Operation *op) {
  if (Value value = undefined(builder, op))
    return value;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<tensor::CastOp, tensor::ReshapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, tensor::PadOp, tensor::ConcatOp,
            tensor::DimOp, bufferization::AllocTensorOp,
            bufferization::MaterializeInDestinationOp,
            bufferization::ToTensorOp>(
          [&](auto view) { return shownBy(builder, view); })
      .Case([&](linalg::LinalgOp view) { return handedOn(builder, view); })
      .Default([](Operation *) { return Value(); });
}

/// Erases \p op, and the ops that serve it alone.
static void eraseWithOperands(mlir::RewriterBase &rewriter, Operation *op) {
  llvm::SetVector<Operation *> work;
  work.insert(op);
  while (!work.empty()) {
    Operation *dead = work.pop_back_val();
    SmallVector<Value> operands(dead->getOperands());
    rewriter.eraseOp(dead);
    for (Value operand : operands)
      if (Operation *maker = operand.getDefiningOp();
          maker && mlir::isOpTriviallyDead(maker))
        work.insert(maker);
  }
}

void ckpt::simplifyViews(mlir::func::FuncOp step, PreparationSummary &summary) {
  mlir::IRRewriter rewriter(step.getContext());
  SmallVector<Operation *> ops;
  // Operands come before their users, and bodies before their ops.
  step.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    // Users may have their say about the op itself.
    if (op->hasAttr(CkptDialect::pinAttrName()))
      continue;
    rewriter.setInsertionPoint(op);
    Value shown = shownBy(rewriter, op);
    if (!shown || shown.getType() != op->getResult(0).getType())
      continue;
    rewriter.replaceAllUsesWith(op->getResult(0), shown);
    eraseWithOperands(rewriter, op);
    ++summary.views;
  }
}
