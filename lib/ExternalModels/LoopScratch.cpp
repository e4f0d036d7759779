//===- LoopScratch.cpp - Memory of values made inside a loop --------------===//

#include "ckpt/ExternalModels/LoopScratch.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace ckpt;

/// Alignment of buffers: a cache line.
static constexpr int64_t alignment = 64;

int64_t ckpt::scratchBytes(Type type) {
  auto shaped = cast<mlir::ShapedType>(type);
  return shaped.getNumElements() * elementBytes(shaped.getElementType());
}

static bool isView(Operation *op) {
  return isa<mlir::ViewLikeOpInterface, mlir::tensor::ExpandShapeOp,
             mlir::tensor::CollapseShapeOp, mlir::tensor::ReshapeOp,
             mlir::tensor::ExtractSliceOp, mlir::tensor::CastOp>(op);
}

/// Tensors that lie in the place of the operand, a tensor. A value that an
/// iteration passes to the next one moves there.
static SmallVector<Value> sharesPlace(OpOperand &operand) {
  Operation *op = operand.getOwner();
  SmallVector<Value> places;
  if (isView(op)) {
    if (operand.getOperandNumber() == 0)
      places.push_back(op->getResult(0));
  } else if (auto loop = dyn_cast<mlir::scf::WhileOp>(op)) {
    // The condition may pass it on as any result.
    for (Value result : loop.getResults())
      if (result.getType() == operand.get().getType())
        places.push_back(result);
  } else if (auto loop = dyn_cast<mlir::LoopLikeOpInterface>(op)) {
    if (OpResult result = loop.getTiedLoopResult(&operand))
      places.push_back(result);
  } else if (auto updating = dyn_cast<mlir::DestinationStyleOpInterface>(op)) {
    if (updating.isDpsInit(&operand) && op->getNumResults() > 0)
      places.push_back(updating.getTiedOpResult(&operand));
  } else if (isa<mlir::scf::YieldOp>(op) &&
             !isa<mlir::LoopLikeOpInterface>(op->getParentOp())) {
    places.push_back(op->getParentOp()->getResult(operand.getOperandNumber()));
  }
  return places;
}

/// The op that makes \p value, or whose region takes it.
static Operation *makerOf(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op : value.getParentBlock()->getParentOp();
}

namespace {
/// Live ranges of buffers inside one op, in numbers of ops in the order of the
/// text.
class LiveRanges {
public:
  explicit LiveRanges(Operation *root) : root(root), flow(root) { add(root); }

  Scratch of(Value value) const {
    llvm::SetVector<Operation *> needed = opsThatNeed(value);
    // The block in which all of them lie: beyond the block of the maker, the
    // value leaves a region, maybe for the next iteration of a loop.
    Operation *from = value.getDefiningOp();
    while (from != root && !llvm::all_of(needed, [&](Operation *op) {
             return from->getBlock()->findAncestorOpInBlock(*op) != nullptr;
           }))
      from = from->getParentOp();
    Scratch scratch{value, scratchBytes(value.getType()), first.lookup(from),
                    from == root ? last.lookup(root) : first.lookup(from)};
    if (from != root)
      for (Operation *op : needed) {
        Operation *user = from->getBlock()->findAncestorOpInBlock(*op);
        scratch.end = std::max(scratch.end, last.lookup(user));
      }
    return scratch;
  }

private:
  void add(Operation *op) {
    first[op] = next++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        add(&inner);
    last[op] = next - 1;
  }

  /// The ops in the root that make or use values that lie where \p value lies.
  llvm::SetVector<Operation *> opsThatNeed(Value value) const {
    llvm::SetVector<Operation *> ops;
    llvm::SetVector<Value> places;
    places.insert(value);
    for (size_t i = 0; i < places.size(); ++i) {
      Value place = places[i];
      // Upstream's analysis knows memrefs.
      if (!isa<mlir::TensorType>(place.getType())) {
        places.insert_range(flow.resolve(place));
        continue;
      }
      for (OpOperand &use : place.getUses())
        places.insert_range(sharesPlace(use));
    }
    for (Value place : places) {
      ops.insert(makerOf(place));
      ops.insert(place.user_begin(), place.user_end());
    }
    ops.remove_if([&](Operation *op) { return !first.contains(op); });
    return ops;
  }

  Operation *root;
  mlir::BufferViewFlowAnalysis flow;
  int64_t next = 0;
  llvm::DenseMap<Operation *, int64_t> first, last;
};
} // namespace

SmallVector<Scratch> ckpt::liveScratch(Operation *root,
                                       ArrayRef<Value> values) {
  LiveRanges ranges(root);
  return llvm::map_to_vector(values,
                             [&](Value value) { return ranges.of(value); });
}

int64_t ckpt::placeScratch(MutableArrayRef<Scratch> buffers) {
  auto lives = llvm::map_to_vector(buffers, [](const Scratch &scratch) {
    return plan::Buffer{
        static_cast<int32_t>(scratch.begin), static_cast<int32_t>(scratch.end),
        static_cast<int64_t>(llvm::alignTo(scratch.bytes, alignment))};
  });
  plan::Packing packing =
      plan::packBuffers({lives.begin(), lives.end()}, /*budgetBytes=*/0,
                        plan::PackEffort::Orders);
  for (auto [scratch, offset] : llvm::zip_equal(buffers, packing.offsets))
    scratch.offset = offset;
  return packing.arenaBytes;
}
