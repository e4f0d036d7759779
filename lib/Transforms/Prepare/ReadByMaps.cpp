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
/// An index as a sum over loops: a factor for each loop, and a constant.
struct LoopSum {
  SmallVector<int64_t> factors;
  int64_t constant = 0;
};

/// The indices in the body of one op that are sums over its loops.
class LoopSums {
public:
  explicit LoopSums(linalg::GenericOp op)
      : extents(op.getStaticLoopRanges()), context(op.getContext()) {
    for (Operation &inner : op.getBody()->without_terminator())
      if (std::optional<LoopSum> sum = make(&inner))
        sums[inner.getResult(0)] = std::move(*sum);
  }

  /// Of an index from 0 to below \p extent; null for others.
  AffineExpr within(int64_t extent, Value index) const;

private:
  std::optional<LoopSum> get(Value index) const;
  std::optional<LoopSum> make(Operation *inner) const;
  std::optional<LoopSum> add(Operation *sum, int64_t factor) const;
  std::optional<LoopSum> multiply(Operation *product) const;

  SmallVector<int64_t> extents;
  MLIRContext *context;
  llvm::DenseMap<Value, LoopSum> sums;
};
} // namespace

/// left + factor * right, if that is no larger than a number can be.
static std::optional<int64_t> multiplyAdd(int64_t left, int64_t factor,
                                          int64_t right) {
  int64_t product, sum;
  if (llvm::MulOverflow(factor, right, product) ||
      llvm::AddOverflow(left, product, sum))
    return std::nullopt;
  return sum;
}

/// left + factor * right.
static std::optional<LoopSum> multiplyAdd(const LoopSum &left, int64_t factor,
                                          const LoopSum &right) {
  auto constant = multiplyAdd(left.constant, factor, right.constant);
  if (!constant)
    return std::nullopt;
  LoopSum sum = {{}, *constant};
  for (auto [first, second] : llvm::zip_equal(left.factors, right.factors)) {
    auto both = multiplyAdd(first, factor, second);
    if (!both)
      return std::nullopt;
    sum.factors.push_back(*both);
  }
  return sum;
}

std::optional<LoopSum> LoopSums::get(Value index) const {
  llvm::APInt constant;
  if (mlir::matchPattern(index, mlir::m_ConstantInt(&constant)))
    return LoopSum{SmallVector<int64_t>(extents.size(), 0),
                   constant.getSExtValue()};
  auto found = sums.find(index);
  return found == sums.end() ? std::nullopt : std::optional(found->second);
}

std::optional<LoopSum> LoopSums::add(Operation *sum, int64_t factor) const {
  std::optional<LoopSum> left = get(sum->getOperand(0));
  std::optional<LoopSum> right = get(sum->getOperand(1));
  return left && right ? multiplyAdd(*left, factor, *right) : std::nullopt;
}

std::optional<LoopSum> LoopSums::multiply(Operation *product) const {
  llvm::APInt factor;
  for (unsigned number : {0, 1})
    if (mlir::matchPattern(product->getOperand(number),
                           mlir::m_ConstantInt(&factor)))
      if (std::optional<LoopSum> sum = get(product->getOperand(1 - number)))
        return multiplyAdd({SmallVector<int64_t>(extents.size(), 0), 0},
                           factor.getSExtValue(), *sum);
  return std::nullopt;
}

std::optional<LoopSum> LoopSums::make(Operation *inner) const {
  using Sum = std::optional<LoopSum>;
  if (inner->getNumResults() != 1 || !inner->getResult(0).getType().isIndex())
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Sum>(inner)
      .Case([&](linalg::IndexOp loop) {
        LoopSum sum = {SmallVector<int64_t>(extents.size(), 0), 0};
        sum.factors[loop.getDim()] = 1;
        return sum;
      })
      .Case([&](arith::AddIOp) { return add(inner, 1); })
      .Case([&](arith::SubIOp) { return add(inner, -1); })
      .Case([&](arith::MulIOp) { return multiply(inner); })
      .Default([](Operation *) { return std::nullopt; });
}

AffineExpr LoopSums::within(int64_t extent, Value index) const {
  std::optional<LoopSum> sum = get(index);
  if (!sum)
    return AffineExpr();
  AffineExpr expr = mlir::getAffineConstantExpr(sum->constant, context);
  std::optional<int64_t> least = sum->constant, greatest = sum->constant;
  for (auto [loop, factor] : llvm::enumerate(sum->factors)) {
    if (factor == 0)
      continue;
    if (extents[loop] < 1) // Dynamic, or never run.
      return AffineExpr();
    std::optional<int64_t> &end = factor < 0 ? least : greatest;
    end = multiplyAdd(*end, factor, extents[loop] - 1);
    if (!end)
      return AffineExpr();
    // Backwards is forwards where there is one place.
    int64_t step = extents[loop] == 1 && extent == 1 ? 1 : factor;
    expr = expr + mlir::getAffineDimExpr(loop, context) * step;
  }
  return *least >= 0 && *greatest < extent ? expr : AffineExpr();
}

/// The map by which \p extract reads its tensor, if that comes from outside of
/// \p op and all its places are inside.
static AffineMap mapOf(linalg::GenericOp op, tensor::ExtractOp extract,
                       const LoopSums &sums) {
  auto type = dyn_cast<RankedTensorType>(extract.getTensor().getType());
  if (!type || !type.hasStaticShape() ||
      op->isAncestor(extract.getTensor().getParentRegion()->getParentOp()))
    return AffineMap();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<AffineExpr> results;
  for (auto [extent, index] :
       llvm::zip_equal(type.getShape(), extract.getIndices())) {
    AffineExpr expr = sums.within(extent, index);
    if (!expr)
      return AffineMap();
    // An input whose dimension is a loop gives that its extent.
    auto loop = dyn_cast<mlir::AffineDimExpr>(expr);
    if (loop && extents[loop.getPosition()] != extent)
      return AffineMap();
    results.push_back(expr);
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
    auto extracts = op.getBody()->getOps<tensor::ExtractOp>();
    if (extracts.empty())
      continue;
    LoopSums sums(op);
    SmallVector<MappedRead> reads;
    for (auto extract : extracts)
      if (AffineMap map = mapOf(op, extract, sums))
        reads.push_back({extract, map});
    if (reads.empty())
      continue;
    addInputs(op, reads);
    ++summary.views;
  }
}
