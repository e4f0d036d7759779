//===- ScatterLoops.cpp - Loops that update at places of the data ---------===//

#include "Transforms/Loops/ScatterLoops.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace ckpt;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;

/// Most ops that compute one place of a scatter; beyond this, assume data.
constexpr size_t maxPlaceOps = 256;

/// The values that decide \p argument: nothing for an induction variable, the
/// first value and the next one for a carry; no info if the data decide.
static std::optional<SmallVector<Value>> sourcesOf(BlockArgument argument) {
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return std::nullopt;
  if (argument == loop.getInductionVar())
    return SmallVector<Value>();
  return SmallVector<Value>{loop.getTiedLoopInit(argument)->get(),
                            loop.getTiedLoopYieldedValue(argument)->get()};
}

static bool dependsOnData(ValueRange values) {
  SmallVector<Value> worklist(values);
  llvm::SmallDenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (seen.size() > maxPlaceOps)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      std::optional<SmallVector<Value>> sources = sourcesOf(argument);
      if (!sources)
        return true;
      worklist.append(*sources);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (isa<mlir::LoopLikeOpInterface, scf::IfOp>(op))
      return true;
    // A table of places is data even where constants fill it: the gradient of
    // position embeddings.
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    if (extract && extract.getTensor().getType().getNumElements() != 1)
      return true;
    worklist.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// The tensor that \p value updates, and where; null if it is no update.
static Value updated(Value value, SmallVectorImpl<Value> &place) {
  Operation *op = value.getDefiningOp();
  if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op)) {
    place.append(insert.getOffsets().begin(), insert.getOffsets().end());
    return insert.getDest();
  }
  if (auto insert = dyn_cast_or_null<tensor::InsertOp>(op)) {
    place.append(insert.getIndices().begin(), insert.getIndices().end());
    return insert.getDest();
  }
  // A check of the bounds around the update.
  auto check = dyn_cast_or_null<scf::IfOp>(op);
  if (!check || check.getElseRegion().empty())
    return {};
  place.push_back(check.getCondition());
  unsigned result = cast<OpResult>(value).getResultNumber();
  Value inserted = check.thenYield().getOperand(result);
  Value kept = check.elseYield().getOperand(result);
  if (updated(kept, place) == inserted)
    return inserted;
  return updated(inserted, place) == kept ? kept : Value();
}

/// Whether the loop only updates \p carry, at places that the data name or
/// element by element: an element of its own is no value to plan.
static bool isScattered(scf::ForOp loop, BlockArgument carry) {
  SmallVector<Value> place;
  Value value = loop.getTiedLoopYieldedValue(carry)->get();
  bool isElementwise = value.getDefiningOp<tensor::InsertOp>();
  while (value && value != carry)
    value = updated(value, place);
  return value && (isElementwise || dependsOnData(place));
}

bool ckpt::isScatter(scf::ForOp loop) {
  bool found = false;
  for (BlockArgument carry : loop.getRegionIterArgs()) {
    auto type = dyn_cast<mlir::RankedTensorType>(carry.getType());
    if (!type || loop.getTiedLoopYieldedValue(carry)->get() == carry)
      continue;
    if (!isScattered(loop, carry))
      return false;
    found = true;
  }
  return found;
}
