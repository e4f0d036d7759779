//===- Linalg.cpp - Structured ops ----------------------------------------===//
//
// One model for all of them, named or generic: everything follows from
// iterators, indexing maps and the body.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "Captures.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/ExternalModels/ScalarCode.h"
#include "ckpt/ExternalModels/UnreadTensors.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace ckpt;
using mlir::AffineMap;
using mlir::linalg::LinalgOp;
using plan::Access;
using plan::Need;
using plan::OpKind;

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

static bool isMultiplyAdd(Operation *multiply, Operation *add) {
  namespace arith = mlir::arith;
  namespace complex = mlir::complex;
  return (isa<arith::MulFOp>(multiply) && isa<arith::AddFOp>(add)) ||
         (isa<arith::MulIOp>(multiply) && isa<arith::AddIOp>(add)) ||
         (isa<arith::AndIOp>(multiply) && isa<arith::OrIOp>(add)) ||
         (isa<complex::MulOp>(multiply) && isa<complex::AddOp>(add));
}

/// A reduction of products of two operands that stand in memory: matmuls and
/// convolutions, but no pooling, which has the maps of a convolution too.
static bool isContraction(LinalgOp op) {
  if (mlir::linalg::isaContractionOpInterface(op))
    return op.getNumReductionLoops() > 0;
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() > 0 &&
         mlir::linalg::isaConvolutionOpInterface(
             op, /*allowEmptyConvolvedDims=*/true) &&
         mlir::linalg::detail::isContractionBody(*op.getBlock(), isMultiplyAdd);
}

/// The body hands on its only input.
static bool onlyCopies(LinalgOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      !op.isAllParallelLoops())
    return false;
  Block *body = op.getBlock();
  return llvm::hasSingleElement(*body) &&
         body->getTerminator()->getOperand(0) == body->getArgument(0);
}

static int64_t arithmeticOps(LinalgOp op) {
  int64_t count = 0;
  op.getBlock()->walk([&](Operation *inner) {
    mlir::Dialect *dialect = inner->getDialect();
    count += dialect &&
             isa<mlir::arith::ArithDialect, mlir::math::MathDialect,
                 mlir::complex::ComplexDialect>(dialect) &&
             !inner->hasTrait<mlir::OpTrait::ConstantLike>();
  });
  return count;
}

//===----------------------------------------------------------------------===//
// The maps
//===----------------------------------------------------------------------===//

/// Every iteration of an all-parallel op makes one element of each result, the
/// same one in all of them.
static bool writesEachElementOnce(LinalgOp op) {
  // Named ops build all their maps whenever they are asked for one.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  ArrayRef<AffineMap> inits =
      ArrayRef<AffineMap>(maps).take_back(op.getNumDpsInits());
  return inits.front().isPermutation() && llvm::all_equal(inits);
}

/// Every element of the results of an op that reduces is made by one iteration
/// of its parallel loops, the same one in all of them.
static bool reducesToEachElementOnce(LinalgOp op) {
  AffineMap first = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return first.isProjectedPermutation() &&
         first.getNumResults() == op.getNumParallelLoops() &&
         llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
           return op.getMatchingIndexingMap(&init) == first;
         });
}

static ArrayRef<int64_t> shapeOf(OpOperand &operand) {
  auto shaped = dyn_cast<mlir::ShapedType>(operand.get().getType());
  return shaped ? shaped.getShape() : ArrayRef<int64_t>();
}

/// How an all-parallel op reads an input: the elements that make the element of
/// the result at the same iteration. In a dimension of size 1, the index is 0
/// under any map.
static Access parallelAccess(LinalgOp op, OpOperand &input) {
  OpOperand *init = op.getDpsInitOperand(0);
  ArrayRef<int64_t> shape = shapeOf(input);
  if (shape != shapeOf(*init))
    return Access::Any;
  AffineMap from = op.getMatchingIndexingMap(&input);
  AffineMap to = op.getMatchingIndexingMap(init);
  for (auto [size, source, target] :
       llvm::zip_equal(shape, from.getResults(), to.getResults()))
    if (size != 1 && source != target)
      return Access::Any;
  return Access::Pointwise;
}

/// Whether \p map gives each loop one of the dimensions of \p shape, forwards
/// or backwards.
static bool isPermutationOrReversal(AffineMap map, ArrayRef<int64_t> shape) {
  SmallVector<mlir::AffineExpr> dims;
  for (auto [size, expr] : llvm::zip_equal(shape, map.getResults())) {
    mlir::AffineExpr backwards = mlir::simplifyAffineExpr(
        size - 1 - expr, map.getNumDims(), map.getNumSymbols());
    dims.push_back(isa<mlir::AffineDimExpr>(backwards) ? backwards : expr);
  }
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), dims,
                        map.getContext())
      .isPermutation();
}

/// A copy whose elements only change their order is a view, but not one of the
/// last elements backwards. \p op writes each element once.
static bool onlyPermutes(LinalgOp op) {
  if (!onlyCopies(op))
    return false;
  OpOperand *input = op.getDpsInputOperand(0);
  ArrayRef<int64_t> shape = shapeOf(*input);
  ArrayRef<int64_t> result = shapeOf(*op.getDpsInitOperand(0));
  return isa<mlir::TensorType>(input->get().getType()) &&
         std::is_permutation(shape.begin(), shape.end(), result.begin(),
                             result.end()) &&
         isPermutationOrReversal(op.getMatchingIndexingMap(input), shape);
}

static Access viewAccess(LinalgOp op) {
  OpOperand &input = *op.getDpsInputOperand(0);
  return parallelAccess(op, input) == Access::Pointwise ? Access::Reshape
                                                        : Access::Permute;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static OpKind kindOf(LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() == 0 ||
      !isScalarCode(*op.getBlock()))
    return OpKind::Opaque;
  if (!op.isAllParallelLoops()) {
    if (!reducesToEachElementOnce(op))
      return OpKind::Opaque;
    return isContraction(op) ? OpKind::Contraction : OpKind::Reduction;
  }
  if (!writesEachElementOnce(op))
    return OpKind::Opaque;
  return onlyPermutes(op) ? OpKind::View : OpKind::Fusible;
}

SmallVector<Value> ckpt::unreadTensors(Operation *op) {
  SmallVector<Value> read, unread;
  if (auto linalgOp = dyn_cast<LinalgOp>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (isa<mlir::RankedTensorType>(operand.get().getType()))
        (linalgOp.payloadUsesValueFromOperand(&operand) ? read : unread)
            .push_back(operand.get());
  llvm::erase_if(unread,
                 [&](Value value) { return llvm::is_contained(read, value); });
  return unread;
}

static void appendReads(LinalgOp op, OpKind kind,
                        SmallVectorImpl<RematRead> &reads) {
  bool isAnchor = kind == OpKind::Contraction || kind == OpKind::Reduction;
  for (OpOperand *input : op.getDpsInputOperands()) {
    // A scalar has no shape to stand for it where its value is not read.
    if (isa<mlir::RankedTensorType>(input->get().getType()) &&
        !op.payloadUsesValueFromOperand(input))
      continue;
    Access access = isAnchor               ? Access::Any
                    : kind == OpKind::View ? viewAccess(op)
                                           : parallelAccess(op, *input);
    Need need = kind == OpKind::Contraction ? Need::Memory : Need::Inline;
    reads.push_back({input->get(), access, need});
  }
  // Init k is updated at the very element that the iteration gives.
  for (OpOperand &init : op.getDpsInitsMutable())
    if (isAnchor || op.payloadUsesValueFromOperand(&init))
      reads.push_back({init.get(), Access::Pointwise, Need::Inline, true});
  appendCaptures(op, kind == OpKind::Fusible, reads);
}

namespace {

template <typename ConcreteOp>
struct LinalgModel
    : RematOpInterface::ExternalModel<LinalgModel<ConcreteOp>, ConcreteOp> {
  OpKind getRematKind(Operation *op) const {
    return kindOf(cast<LinalgOp>(op));
  }

  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    OpKind kind = getRematKind(op);
    if (kind == OpKind::Opaque)
      appendOpaqueReads(op, reads);
    else
      appendReads(cast<LinalgOp>(op), kind, reads);
  }

  int64_t getFlops(Operation *op) const {
    auto linalgOp = cast<LinalgOp>(op);
    int64_t points = 1;
    for (int64_t size : linalgOp.getStaticLoopRanges())
      if (!mlir::ShapedType::isDynamic(size))
        points = saturatingProduct(points, size);
    return saturatingProduct(points, kindOf(linalgOp) == OpKind::Contraction
                                         ? 2
                                         : arithmeticOps(linalgOp));
  }

  bool hasSideEffects(Operation *op) const {
    auto linalgOp = cast<LinalgOp>(op);
    return !linalgOp.hasPureTensorSemantics() ||
           llvm::any_of(*linalgOp.getBlock(), [](Operation &inner) {
             return !mlir::isMemoryEffectFree(&inner);
           });
  }
};

template <typename... Ops>
void attachModels(MLIRContext *context) {
  (Ops::template attachInterface<LinalgModel<Ops>>(*context), ...);
}

} // namespace

void ckpt::registerLinalgExternalModels(mlir::DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, mlir::linalg::LinalgDialect *) {
        attachModels<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
            >(context);
      });
}
