//===- ClampIndices.cpp - Indices out of range in loops -------------------===//
//
// The rule of docs/Rationale/Indices.md for ops that are not made element by
// element: reads take the nearest element, or slice, inside, and writes that
// are not wholly inside leave the tensor as it is. ElementSlices.cpp and
// ElementBodies.cpp have the same rule for elements.
//
//===----------------------------------------------------------------------===//

#include "Analysis/ClampIndices.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/ControlFlowSinkUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;
using namespace mlir;

/// The largest offset in dimension \p dim at which the slice of \p op fits into
/// \p extent; nothing where that is known only at run time.
static std::optional<int64_t> largestOffset(OffsetSizeAndStrideOpInterface op,
                                            unsigned dim, int64_t extent) {
  int64_t size = op.getStaticSizes()[dim], stride = op.getStaticStrides()[dim];
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride) ||
      ShapedType::isDynamic(extent))
    return std::nullopt;
  return std::max<int64_t>(0, extent - 1 - (size - 1) * stride);
}

namespace {
/// Rewrites the reads and writes of one function.
class IndexClamp {
public:
  void rewrite(tensor::ExtractOp op);
  void rewrite(tensor::ExtractSliceOp op);
  void rewrite(tensor::InsertOp op);
  void rewrite(tensor::InsertSliceOp op);
  /// Guards the writes, once all indices are clamped: a guard takes clamps that
  /// only its write needs along.
  void guardWrites();

private:
  /// An index, and the largest that is inside.
  using Index = std::pair<Value, int64_t>;

  Value clamp(const Index &index);
  void clampOffsets(OffsetSizeAndStrideOpInterface op, RankedTensorType type,
                    SmallVectorImpl<Index> &dynamic);
  void guard(DestinationStyleOpInterface op, ArrayRef<Index> indices);

  struct Write {
    DestinationStyleOpInterface op;
    SmallVector<Index> indices;
  };
  SmallVector<Write> writes;
  /// Clamped indices: a slice that is read and written back stays one slice for
  /// bufferization.
  llvm::DenseMap<Index, Value> clamped;
};
} // namespace

Value IndexClamp::clamp(const Index &index) {
  auto [entry, isNew] = clamped.try_emplace(index);
  if (!isNew)
    return entry->second;
  auto [value, largest] = index;
  ImplicitLocOpBuilder builder(value.getLoc(), value.getContext());
  builder.setInsertionPointAfterValue(value);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value end = arith::ConstantIndexOp::create(builder, largest);
  value = arith::MaxSIOp::create(builder, value, zero);
  return entry->second = arith::MinSIOp::create(builder, value, end);
}

/// Clamps the offsets of a slice of \p type; \p dynamic are the former ones.
void IndexClamp::clampOffsets(OffsetSizeAndStrideOpInterface op,
                              RankedTensorType type,
                              SmallVectorImpl<Index> &dynamic) {
  SmallVector<Value> offsets;
  for (auto [dim, offset] : llvm::enumerate(op.getMixedOffsets())) {
    auto value = dyn_cast<Value>(offset);
    if (!value)
      continue;
    std::optional<int64_t> largest =
        largestOffset(op, dim, type.getDimSize(dim));
    if (largest)
      dynamic.push_back({value, *largest});
    offsets.push_back(largest ? clamp({value, *largest}) : value);
  }
  unsigned first = op.getOffsetSizeAndStrideStartOperandIndex();
  for (auto [number, offset] : llvm::enumerate(offsets))
    op->setOperand(first + number, offset);
}

/// Puts the write \p op under the condition that all of \p indices are inside,
/// with all ops that only it needs.
void IndexClamp::guard(DestinationStyleOpInterface op,
                       ArrayRef<Index> indices) {
  if (indices.empty())
    return;
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  Value isInside;
  for (auto [index, largest] : indices) {
    // Without a sign, numbers below zero are large ones.
    Value here =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ule, index,
                              arith::ConstantIndexOp::create(builder, largest));
    isInside = isInside ? arith::AndIOp::create(builder, isInside, here) : here;
  }
  auto choice = scf::IfOp::create(builder, op->getResultTypes(), isInside,
                                  /*withElseRegion=*/true);
  op->replaceAllUsesWith(choice);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, op.getDpsInits());
  builder.setInsertionPointToStart(choice.thenBlock());
  auto yield = scf::YieldOp::create(builder, op->getResults());
  op->moveBefore(yield);
  // A value written over a slice in place must not be in the branch without a
  // write. Ops before the loop around the write stay there: they run once.
  DominanceInfo dominance(choice->getParentOp());
  SmallVector<Region *> regions{&choice.getThenRegion()};
  controlFlowSink(
      regions, dominance,
      [&](Operation *op, Region *) {
        return op->getBlock() == choice->getBlock() && isMemoryEffectFree(op);
      },
      [](Operation *op, Region *region) {
        op->moveBefore(&region->front(), region->front().begin());
      });
}

void IndexClamp::rewrite(tensor::ExtractOp op) {
  for (OpOperand &index : op.getIndicesMutable()) {
    unsigned dim = index.getOperandNumber() - 1;
    int64_t extent = op.getTensor().getType().getDimSize(dim);
    std::optional<int64_t> known = getConstantIntValue(index.get());
    bool isInside = known && *known >= 0 && *known < extent;
    if (!ShapedType::isDynamic(extent) && !isInside)
      index.set(clamp({index.get(), extent - 1}));
  }
}

void IndexClamp::rewrite(tensor::ExtractSliceOp op) {
  SmallVector<Index> dynamic;
  clampOffsets(op, op.getSourceType(), dynamic);
}

void IndexClamp::rewrite(tensor::InsertOp op) {
  SmallVector<Index> indices;
  for (auto [index, extent] :
       llvm::zip_equal(op.getIndices(), op.getDest().getType().getShape())) {
    std::optional<int64_t> known = getConstantIntValue(index);
    bool isInside = known && *known >= 0 && *known < extent;
    if (!ShapedType::isDynamic(extent) && !isInside)
      indices.push_back({index, extent - 1});
  }
  writes.push_back({op, indices});
}

void IndexClamp::rewrite(tensor::InsertSliceOp op) {
  SmallVector<Index> indices;
  clampOffsets(op, op.getDestType(), indices);
  writes.push_back({op, indices});
}

void IndexClamp::guardWrites() {
  for (const Write &write : writes)
    guard(write.op, write.indices);
}

void ckpt::clampIndices(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<tensor::ExtractOp, tensor::ExtractSliceOp, tensor::InsertOp,
            tensor::InsertSliceOp>(op))
      ops.push_back(op);
  });
  IndexClamp clamp;
  for (Operation *op : ops)
    llvm::TypeSwitch<Operation *>(op)
        .Case<tensor::ExtractOp, tensor::ExtractSliceOp, tensor::InsertOp,
              tensor::InsertSliceOp>([&](auto op) { clamp.rewrite(op); });
  clamp.guardWrites();
}
