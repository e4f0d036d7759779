//===- ReadByMaps.cpp - Elements at places that only loops decide ---------===//
//
// Frontends write a reversal as a body that takes an element from a tensor at
// computed indices, as they write gathers. Where the indices are sums of loops,
// the tensor becomes an input with a map: a reversal is a view then, and a copy
// at the loops' own indices is the value.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;
namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::RankedTensorType;

namespace {
/// An index as a sum over loops, with its least and greatest value.
struct LoopSum {
  AffineExpr sum;
  int64_t least, greatest;
};
} // namespace

static std::optional<LoopSum> operator+(std::optional<LoopSum> left,
                                        std::optional<LoopSum> right) {
  if (!left || !right)
    return std::nullopt;
  LoopSum both = {left->sum + right->sum, 0, 0};
  if (llvm::AddOverflow(left->least, right->least, both.least) ||
      llvm::AddOverflow(left->greatest, right->greatest, both.greatest))
    return std::nullopt;
  return both;
}

static std::optional<LoopSum> operator*(std::optional<LoopSum> sum,
                                        int64_t factor) {
  if (!sum)
    return std::nullopt;
  LoopSum scaled = {sum->sum * factor, 0, 0};
  if (llvm::MulOverflow(sum->least, factor, scaled.least) ||
      llvm::MulOverflow(sum->greatest, factor, scaled.greatest))
    return std::nullopt;
  if (factor < 0)
    std::swap(scaled.least, scaled.greatest);
  return scaled;
}

/// \p index in the body of \p op, if it is a sum over loops.
static std::optional<LoopSum> sumOfLoops(linalg::GenericOp op, Value index) {
  using Sum = std::optional<LoopSum>;
  MLIRContext *context = op.getContext();
  llvm::APInt constant;
  if (mlir::matchPattern(index, mlir::m_ConstantInt(&constant))) {
    int64_t value = constant.getSExtValue();
    return LoopSum{mlir::getAffineConstantExpr(value, context), value, value};
  }
  Operation *maker = index.getDefiningOp();
  if (!maker || !index.getType().isIndex())
    return std::nullopt;
  auto operand = [&](unsigned number) {
    return sumOfLoops(op, maker->getOperand(number));
  };
  return llvm::TypeSwitch<Operation *, Sum>(maker)
      .Case([&](linalg::IndexOp loop) -> Sum {
        int64_t extent = op.getStaticLoopRanges()[loop.getDim()];
        if (loop->getParentOp() != op || mlir::ShapedType::isDynamic(extent))
          return std::nullopt;
        return LoopSum{mlir::getAffineDimExpr(loop.getDim(), context), 0,
                       extent - 1};
      })
      .Case([&](arith::AddIOp) { return operand(0) + operand(1); })
      .Case([&](arith::SubIOp) { return operand(0) + operand(1) * -1; })
      .Case([&](arith::MulIOp) -> Sum {
        for (unsigned number : {0, 1})
          if (mlir::matchPattern(maker->getOperand(number),
                                 mlir::m_ConstantInt(&constant)))
            return operand(1 - number) * constant.getSExtValue();
        return std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// The map by which \p extract reads its tensor, if that comes from outside of
/// \p op and all its places are inside.
static AffineMap mapOf(linalg::GenericOp op, tensor::ExtractOp extract) {
  auto type = dyn_cast<RankedTensorType>(extract.getTensor().getType());
  if (!type || !type.hasStaticShape() ||
      op->isAncestor(extract.getTensor().getParentRegion()->getParentOp()))
    return AffineMap();
  SmallVector<AffineExpr> results;
  for (auto [extent, index] :
       llvm::zip_equal(type.getShape(), extract.getIndices())) {
    std::optional<LoopSum> sum = sumOfLoops(op, index);
    if (!sum || sum->least < 0 || sum->greatest >= extent)
      return AffineMap();
    // An input whose dimension is a loop gives that its extent.
    if (isa<mlir::AffineDimExpr>(sum->sum) && sum->greatest != extent - 1)
      return AffineMap();
    // Backwards is forwards where there is one place.
    AffineExpr forwards = mlir::simplifyAffineExpr(
        extent - 1 - sum->sum, op.getNumLoops(), /*numSymbols=*/0);
    bool isOne = extent == 1 && isa<mlir::AffineDimExpr>(forwards);
    results.push_back(isOne ? forwards : sum->sum);
  }
  return AffineMap::get(op.getNumLoops(), 0, results, op.getContext());
}

namespace {
/// A tensor that the body reads by a map.
struct MappedRead {
  tensor::ExtractOp extract;
  AffineMap map;
};
} // namespace

/// Makes the tensors of \p reads inputs of \p op, in the place of inputs that
/// its body does not read: these gave the loops their extents, which results
/// give as well.
static void addInputs(linalg::GenericOp op, ArrayRef<MappedRead> reads) {
  bool resultsGiveExtents =
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::BitVector unread(op.getBody()->getNumArguments());
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (resultsGiveExtents && !op.payloadUsesValueFromOperand(input)) {
      unread.set(input->getOperandNumber());
      continue;
    }
    inputs.push_back(input->get());
    maps.push_back(op.getMatchingIndexingMap(input));
  }
  op.getBody()->eraseArguments(unread);
  for (MappedRead read : reads) {
    auto type = cast<RankedTensorType>(read.extract.getTensor().getType());
    Value element =
        op.getBody()->insertArgument(inputs.size(), type.getElementType(),
                                     read.extract.getTensor().getLoc());
    inputs.push_back(read.extract.getTensor());
    maps.push_back(read.map);
    read.extract.getResult().replaceAllUsesWith(element);
    read.extract.erase();
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  mlir::IRRewriter rewriter(op);
  auto mapped = linalg::GenericOp::create(
      rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray(), /*bodyBuild=*/nullptr,
      mlir::getPrunedAttributeList(op, op.getAttributeNames()));
  rewriter.inlineRegionBefore(op.getRegion(), mapped.getRegion(),
                              mapped.getRegion().begin());
  rewriter.replaceOp(op, mapped.getResults());
  // Nothing else reads the indices.
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(*mapped.getBody())))
    if (mlir::isOpTriviallyDead(&inner))
      rewriter.eraseOp(&inner);
}

void ckpt::readByMaps(mlir::func::FuncOp step, PreparationSummary &summary) {
  SmallVector<linalg::GenericOp> ops;
  step.walk([&](linalg::GenericOp op) { ops.push_back(op); });
  for (linalg::GenericOp op : ops) {
    if (!op.isAllParallelLoops() || !op.hasPureTensorSemantics() ||
        op.getNumDpsInits() == 0)
      continue;
    SmallVector<MappedRead> reads;
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>())
      if (AffineMap map = mapOf(op, extract))
        reads.push_back({extract, map});
    if (reads.empty())
      continue;
    addInputs(op, reads);
    ++summary.views;
  }
}
