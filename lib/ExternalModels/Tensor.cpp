//===- Tensor.cpp - Reshapes, slices, padding and the like ----------------===//
//
// All are computed inside kernels, element by element, also at offsets and
// indices known only at run time. An op of dynamic size is opaque.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "Captures.h"
#include "Elementwise.h"
#include "ckpt/ExternalModels/ContiguousSlice.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/ExternalModels/ScalarCode.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace ckpt;
using plan::Access;
using plan::Need;
using plan::OpKind;

static bool hasStaticOffsets(mlir::OffsetSizeAndStrideOpInterface op) {
  return mlir::ShapedType::isStaticShape(op.getStaticOffsets());
}

static bool hasStaticShape(mlir::OffsetSizeAndStrideOpInterface op) {
  return mlir::ShapedType::isStaticShape(op.getStaticSizes()) &&
         mlir::ShapedType::isStaticShape(op.getStaticStrides());
}

/// Scalars that every element needs.
static void readScalars(mlir::ValueRange scalars,
                        SmallVectorImpl<RematRead> &reads) {
  for (Value scalar : scalars)
    reads.push_back({scalar, Access::Any});
}

/// A slice that starts at the origin and leaves nothing out in between.
static bool isFromOrigin(mlir::OffsetSizeAndStrideOpInterface op) {
  return llvm::all_of(op.getStaticOffsets(),
                      [](int64_t o) { return o == 0; }) &&
         llvm::all_of(op.getStaticStrides(), [](int64_t s) { return s == 1; });
}

static bool isStatic(mlir::tensor::PadOp op) {
  return mlir::ShapedType::isStaticShape(op.getStaticLow()) &&
         mlir::ShapedType::isStaticShape(op.getStaticHigh());
}

/// Whether \p use reads each padded dimension of \p pad by windows: a
/// convolution, which finds zeros where there is no memory.
static bool isWindow(mlir::tensor::PadOp pad, OpOperand &use) {
  auto op = dyn_cast<RematOpInterface>(use.getOwner());
  auto linalgOp = dyn_cast<mlir::linalg::LinalgOp>(use.getOwner());
  if (!op || !linalgOp || op.getRematKind() != OpKind::Contraction)
    return false;
  mlir::AffineMap map = linalgOp.getMatchingIndexingMap(&use);
  for (auto [low, high, index] : llvm::zip_equal(
           pad.getStaticLow(), pad.getStaticHigh(), map.getResults()))
    if ((low != 0 || high != 0) && isa<mlir::AffineDimExpr>(index))
      return false;
  return true;
}

/// Whether \p collapse makes one dimension of several.
static bool joinsDims(mlir::tensor::CollapseShapeOp collapse) {
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  return llvm::any_of(
      collapse.getReassociationIndices(), [&](ArrayRef<int64_t> dims) {
        return llvm::count_if(dims, [&](int64_t d) { return shape[d] != 1; }) >
               1;
      });
}

/// Whether no index of \p source is divided on the way to memory. A value that
/// is only reshaped lies in memory as it is read.
static bool staysWhole(Value source) {
  bool isJoined = false;
  for (auto view = source.getDefiningOp<RematOpInterface>();
       view && view.getRematKind() == OpKind::View;
       view = view->getOperand(0).getDefiningOp<RematOpInterface>()) {
    auto collapse = dyn_cast<mlir::tensor::CollapseShapeOp>(*view);
    bool isKnown =
        isa<mlir::tensor::ExpandShapeOp, mlir::linalg::LinalgOp,
            mlir::tensor::ExtractSliceOp, mlir::tensor::PadOp>(*view);
    bool isReshape = collapse || isa<mlir::tensor::ExpandShapeOp>(*view);
    if ((!collapse && !isKnown) || (isJoined && !isReshape))
      return false;
    isJoined |= collapse && joinsDims(collapse);
  }
  return true;
}

/// Whether only convolutions read the zeros around a value, which then need no
/// memory.
static bool isAroundWindows(mlir::tensor::PadOp pad) {
  return pad.getSourceType().getNumElements() > 0 && !pad->use_empty() &&
         mlir::matchPattern(pad.getConstantPaddingValue(),
                            mlir::m_PosZeroFloat()) &&
         staysWhole(pad.getSource()) &&
         llvm::all_of(pad->getUses(),
                      [&](OpOperand &use) { return isWindow(pad, use); });
}

namespace {

/// No op here does arithmetic.
template <typename Model, typename ConcreteOp>
struct TensorModel : RematOpInterface::ExternalModel<Model, ConcreteOp> {
  int64_t getFlops(Operation *) const { return 0; }
};

/// Reshapes: operand 0 in another shape. The shape operand of `tensor.reshape`
/// says nothing that the type does not.
template <typename ConcreteOp>
struct ReshapeModel : TensorModel<ReshapeModel<ConcreteOp>, ConcreteOp> {
  OpKind getRematKind(Operation *) const { return OpKind::View; }
  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    reads.push_back({op->getOperand(0), Access::Reshape});
  }
};

struct ExtractSliceModel
    : TensorModel<ExtractSliceModel, mlir::tensor::ExtractSliceOp> {
  OpKind getRematKind(Operation *op) const {
    auto slice = cast<mlir::tensor::ExtractSliceOp>(op);
    return !hasStaticShape(slice)    ? OpKind::Opaque
           : hasStaticOffsets(slice) ? OpKind::View
                                     : OpKind::Fusible;
  }

  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    auto slice = cast<mlir::tensor::ExtractSliceOp>(op);
    if (!hasStaticShape(slice))
      return appendOpaqueReads(op, reads);
    bool fromOrigin = isFromOrigin(slice);
    bool isAll =
        elementsOf(slice.getSourceType()) == elementsOf(slice.getType());
    bool sameRank =
        slice.getSourceType().getRank() == slice.getType().getRank();
    Access access = fromOrigin && isAll      ? Access::Reshape
                    : fromOrigin && sameRank ? Access::Aligned
                    : contiguousBegin(slice) ? Access::Stretch
                                             : Access::Any;
    reads.push_back({slice.getSource(), access});
    readScalars(slice.getOffsets(), reads);
  }
};

struct InsertSliceModel
    : TensorModel<InsertSliceModel, mlir::tensor::InsertSliceOp> {
  OpKind getRematKind(Operation *op) const {
    return hasStaticShape(cast<mlir::tensor::InsertSliceOp>(op))
               ? OpKind::Fusible
               : OpKind::Opaque;
  }

  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    auto slice = cast<mlir::tensor::InsertSliceOp>(op);
    if (!hasStaticShape(slice))
      return appendOpaqueReads(op, reads);
    bool aligned = isFromOrigin(slice) && slice.getSourceType().getRank() ==
                                              slice.getDestType().getRank();
    reads.push_back(
        {slice.getSource(), aligned ? Access::Aligned : Access::Any});
    reads.push_back({slice.getDest(), Access::Pointwise, Need::Inline, true});
    readScalars(slice.getOffsets(), reads);
  }
};

/// Whether \p pad pads with one value and its region computes nothing from
/// outside beside.
static bool padsWithOneValue(mlir::tensor::PadOp pad) {
  llvm::SetVector<Value> captured;
  mlir::getUsedValuesDefinedAbove(pad->getRegions(), captured);
  Value padding = pad.getConstantPaddingValue();
  return padding &&
         llvm::all_of(captured, [&](Value value) { return value == padding; });
}

struct PadModel : TensorModel<PadModel, mlir::tensor::PadOp> {
  OpKind getRematKind(Operation *op) const {
    auto pad = cast<mlir::tensor::PadOp>(op);
    if (!isStatic(pad) || !padsWithOneValue(pad))
      return OpKind::Opaque;
    return isAroundWindows(pad) ? OpKind::View : OpKind::Fusible;
  }

  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    auto pad = cast<mlir::tensor::PadOp>(op);
    if (getRematKind(op) == OpKind::Opaque)
      return appendOpaqueReads(op, reads);
    bool aligned =
        llvm::all_of(pad.getStaticLow(), [](int64_t low) { return low == 0; });
    reads.push_back({pad.getSource(), aligned ? Access::Aligned : Access::Any});
    if (getRematKind(op) == OpKind::Fusible)
      reads.push_back({pad.getConstantPaddingValue(), Access::Any});
  }
};

/// The first part keeps its coordinates.
struct ConcatModel : TensorModel<ConcatModel, mlir::tensor::ConcatOp> {
  OpKind getRematKind(Operation *) const { return OpKind::Fusible; }
  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    for (OpOperand &part : op->getOpOperands())
      reads.push_back({part.get(), part.getOperandNumber() == 0
                                       ? Access::Aligned
                                       : Access::Any});
  }
};

/// The same bits as another element type.
struct BitcastModel : TensorModel<BitcastModel, mlir::tensor::BitcastOp> {
  OpKind getRematKind(Operation *) const { return OpKind::Fusible; }
  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    reads.push_back({op->getOperand(0), Access::Pointwise});
  }
};

/// Tensors made from scalars.
template <typename ConcreteOp>
struct FromScalarsModel
    : TensorModel<FromScalarsModel<ConcreteOp>, ConcreteOp> {
  OpKind getRematKind(Operation *) const { return OpKind::Fusible; }
  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    readScalars(op->getOperands(), reads);
  }
};

/// Elements from their indices, by scalar code.
struct GenerateModel : TensorModel<GenerateModel, mlir::tensor::GenerateOp> {
  OpKind getRematKind(Operation *op) const {
    auto generate = cast<mlir::tensor::GenerateOp>(op);
    return generate.getType().hasStaticShape() &&
                   isScalarCode(generate.getBody().front())
               ? OpKind::Fusible
               : OpKind::Opaque;
  }

  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    if (getRematKind(op) == OpKind::Fusible)
      appendCaptures(op, /*isFusible=*/true, reads);
    else
      appendOpaqueReads(op, reads);
  }

  int64_t getFlops(Operation *op) const {
    int64_t ops = 0;
    for (Operation &inner : op->getRegion(0).front().without_terminator())
      ops = saturatingSum(ops, flopsOf(&inner));
    return saturatingProduct(ops, elementsOf(op->getResult(0).getType()));
  }
};

/// One element as a scalar.
struct ExtractModel : TensorModel<ExtractModel, mlir::tensor::ExtractOp> {
  OpKind getRematKind(Operation *) const { return OpKind::Fusible; }
  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    readScalars(op->getOperands(), reads);
  }
};

} // namespace

void ckpt::registerTensorExternalModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context,
                            mlir::tensor::TensorDialect *) {
    using namespace mlir::tensor;
    ExpandShapeOp::attachInterface<ReshapeModel<ExpandShapeOp>>(*context);
    CollapseShapeOp::attachInterface<ReshapeModel<CollapseShapeOp>>(*context);
    ReshapeOp::attachInterface<ReshapeModel<ReshapeOp>>(*context);
    CastOp::attachInterface<ReshapeModel<CastOp>>(*context);
    ExtractSliceOp::attachInterface<ExtractSliceModel>(*context);
    InsertSliceOp::attachInterface<InsertSliceModel>(*context);
    PadOp::attachInterface<PadModel>(*context);
    ConcatOp::attachInterface<ConcatModel>(*context);
    BitcastOp::attachInterface<BitcastModel>(*context);
    ExtractOp::attachInterface<ExtractModel>(*context);
    GenerateOp::attachInterface<GenerateModel>(*context);
    SplatOp::attachInterface<FromScalarsModel<SplatOp>>(*context);
    FromElementsOp::attachInterface<FromScalarsModel<FromElementsOp>>(*context);
  });
}
