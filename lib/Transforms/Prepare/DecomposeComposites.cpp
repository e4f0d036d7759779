//===- DecomposeComposites.cpp - Composite ops are taken apart ------------===//
//
// Composite ops do the work of several structured ops, such as a softmax. Only
// apart can the planner fuse their parts and keep some of them.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;
namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;

static bool isStatic(Operation *op) {
  return llvm::all_of(op->getResultTypes(),
                      [](Type type) {
                        auto tensor = dyn_cast<mlir::RankedTensorType>(type);
                        return tensor && tensor.hasStaticShape();
                      }) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto tensor = dyn_cast<mlir::RankedTensorType>(type);
           return !isa<mlir::ShapedType>(type) ||
                  (tensor && tensor.hasStaticShape());
         });
}

/// Number \p position of the coordinates that \p gather is given, one for each
/// point of its batch.
static Value coordinateOf(OpBuilder &builder, tensor::GatherOp gather,
                          int64_t position) {
  auto type = cast<mlir::RankedTensorType>(gather.getIndices().getType());
  ArrayRef<int64_t> shape = type.getShape();
  auto attribute = [&](int64_t number) -> mlir::OpFoldResult {
    return builder.getIndexAttr(number);
  };
  SmallVector<mlir::OpFoldResult> offsets(shape.size(), attribute(0)),
      strides(shape.size(), attribute(1)), sizes;
  for (int64_t size : shape)
    sizes.push_back(attribute(size));
  offsets.back() = attribute(position);
  sizes.back() = attribute(1);
  return tensor::ExtractSliceOp::create(
      builder, gather.getLoc(),
      mlir::RankedTensorType::get(shape.drop_back(), type.getElementType()),
      gather.getIndices(), offsets, sizes, strides);
}

/// A lookup for every element of the result.
static LogicalResult rewriteGather(mlir::RewriterBase &rewriter,
                                   tensor::GatherOp gather) {
  mlir::Location loc = gather.getLoc();
  mlir::RankedTensorType type = gather.getResultType();
  ArrayRef<int64_t> gathered = gather.getGatherDims();
  int64_t batchRank =
      cast<mlir::ShapedType>(gather.getIndices().getType()).getRank() - 1;
  int64_t sourceRank = gather.getSourceType().getRank();
  bool keepsDims = type.getRank() == batchRank + sourceRank;
  SmallVector<Value> coordinates;
  for (size_t i = 0; i < gathered.size(); ++i)
    coordinates.push_back(coordinateOf(rewriter, gather, i));
  MLIRContext *context = rewriter.getContext();
  SmallVector<mlir::AffineMap> maps(
      gathered.size(),
      mlir::AffineMap::getMultiDimIdentityMap(batchRank, context));
  for (mlir::AffineMap &map : maps)
    map = mlir::AffineMap::get(type.getRank(), 0, map.getResults(), context);
  maps.push_back(rewriter.getMultiDimIdentityMap(type.getRank()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  SmallVector<mlir::utils::IteratorType> parallel(
      type.getRank(), mlir::utils::IteratorType::parallel);
  rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      gather, type, coordinates, empty, maps, parallel,
      [&](OpBuilder &inside, mlir::Location loc, mlir::ValueRange arguments) {
        SmallVector<Value> at;
        int64_t loop = batchRank;
        for (int64_t dim = 0; dim < sourceRank; ++dim) {
          auto *found = llvm::find(gathered, dim);
          bool isGathered = found != gathered.end();
          if (!isGathered) {
            at.push_back(linalg::IndexOp::create(inside, loc, loop));
          } else {
            Value index = arguments[found - gathered.begin()];
            if (!index.getType().isIndex())
              index = arith::IndexCastOp::create(inside, loc,
                                                 inside.getIndexType(), index);
            at.push_back(index);
          }
          loop += !isGathered || keepsDims;
        }
        Value element =
            tensor::ExtractOp::create(inside, loc, gather.getSource(), at);
        linalg::YieldOp::create(inside, loc, element);
      });
  return success();
}

/// Unsigned types have no such op in `arith`.
static LogicalResult rewriteBitcast(mlir::RewriterBase &rewriter,
                                    tensor::BitcastOp bitcast) {
  auto from = cast<mlir::ShapedType>(bitcast.getSource().getType());
  if (!from.getElementType().isSignlessIntOrFloat() ||
      !bitcast.getType().getElementType().isSignlessIntOrFloat())
    return failure();
  rewriter.replaceOpWithNewOp<arith::BitcastOp>(bitcast, bitcast.getType(),
                                                bitcast.getSource());
  return success();
}

static LogicalResult takeApart(mlir::RewriterBase &rewriter, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](linalg::AggregatedOpInterface composite) -> LogicalResult {
        FailureOr<SmallVector<Value>> parts =
            composite.decomposeOperation(rewriter);
        if (succeeded(parts))
          rewriter.replaceOp(op, *parts);
        return parts;
      })
      .Case([&](linalg::WinogradFilterTransformOp transform) -> LogicalResult {
        return linalg::decomposeWinogradFilterTransformOp(rewriter, transform);
      })
      .Case([&](linalg::WinogradInputTransformOp transform) -> LogicalResult {
        return linalg::decomposeWinogradInputTransformOp(rewriter, transform);
      })
      .Case([&](linalg::WinogradOutputTransformOp transform) -> LogicalResult {
        return linalg::decomposeWinogradOutputTransformOp(rewriter, transform);
      })
      .Case([&](linalg::PackOp pack) -> LogicalResult {
        return linalg::lowerPack(rewriter, pack);
      })
      .Case([&](linalg::UnPackOp unpack) -> LogicalResult {
        // Upstream's slice of one tile is right where each dimension has tiles.
        bool isTiled = static_cast<int64_t>(unpack.getInnerDimsPos().size()) ==
                       unpack.getDestType().getRank();
        return linalg::lowerUnPack(rewriter, unpack, isTiled);
      })
      .Case([&](tensor::GenerateOp generate) -> LogicalResult {
        return linalg::rewriteInDestinationPassingStyle(rewriter, generate);
      })
      .Case([&](tensor::GatherOp gather) {
        return rewriteGather(rewriter, gather);
      })
      .Case([&](tensor::BitcastOp bitcast) {
        return rewriteBitcast(rewriter, bitcast);
      })
      .Default([](Operation *) { return failure(); });
}

void ckpt::takeCompositesApart(mlir::func::FuncOp step,
                               PreparationSummary &summary) {
  SmallVector<Operation *> composites;
  step.walk([&](Operation *op) {
    if (isa<linalg::AggregatedOpInterface, linalg::WinogradFilterTransformOp,
            linalg::WinogradInputTransformOp, linalg::WinogradOutputTransformOp,
            linalg::PackOp, linalg::UnPackOp, tensor::GenerateOp,
            tensor::GatherOp, tensor::BitcastOp>(op) &&
        isStatic(op))
      composites.push_back(op);
  });
  mlir::IRRewriter rewriter(step.getContext());
  for (Operation *op : composites) {
    rewriter.setInsertionPoint(op);
    summary.composites += succeeded(takeApart(rewriter, op));
  }
}
