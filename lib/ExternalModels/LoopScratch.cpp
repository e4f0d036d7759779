//===- LoopScratch.cpp - Memory of what a loop makes inside ---------------===//

#include "ckpt/ExternalModels/LoopScratch.h"
#include "ckpt/Plan/Pack.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace ckpt;

/// What every kernel may have on the stack without asking.
static constexpr int64_t stackBytes = 4096;

/// Of buffers, a cache line.
static constexpr int64_t alignment = 64;

int64_t ckpt::scratchBytes(Type type) {
  auto shaped = cast<mlir::ShapedType>(type);
  Type element = shaped.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return shaped.getNumElements() * llvm::divideCeil(bits, 8);
}

static bool isView(Operation *op) {
  return isa<mlir::ViewLikeOpInterface, mlir::tensor::ExpandShapeOp,
             mlir::tensor::CollapseShapeOp, mlir::tensor::ReshapeOp,
             mlir::tensor::ExtractSliceOp, mlir::tensor::CastOp>(op);
}

/// What lies where the operand lies.
static Value sharesPlace(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isView(op))
    return operand.getOperandNumber() == 0 ? op->getResult(0) : Value();
  if (auto loop = dyn_cast<mlir::LoopLikeOpInterface>(op))
    return loop.getTiedLoopResult(&operand);
  auto updating = dyn_cast<mlir::DestinationStyleOpInterface>(op);
  if (updating && updating.isDpsInit(&operand) && op->getNumResults() > 0)
    return updating.getTiedOpResult(&operand);
  if (isa<mlir::scf::YieldOp>(op) && isa<mlir::scf::IfOp>(op->getParentOp()))
    return op->getParentOp()->getResult(operand.getOperandNumber());
  return Value();
}

namespace {
/// Ops by number, in the order of the text.
class Numbers {
public:
  explicit Numbers(Operation *root) { add(root); }

  int64_t firstOf(Operation *op) const { return first.lookup(op); }

  /// The last op in \p home that needs what lies where \p value lies, with all
  /// ops inside that one.
  int64_t lastUseOf(Value value, Block *home) const {
    int64_t end = 0;
    for (OpOperand &use : value.getUses()) {
      if (Operation *user = home->findAncestorOpInBlock(*use.getOwner()))
        end = std::max(end, last.lookup(user));
      if (Value same = sharesPlace(use))
        end = std::max(end, lastUseOf(same, home));
    }
    return end;
  }

private:
  void add(Operation *op) {
    first[op] = next++;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        add(&inner);
    last[op] = next - 1;
  }

  int64_t next = 0;
  llvm::DenseMap<Operation *, int64_t> first, last;
};
} // namespace

SmallVector<Scratch> ckpt::liveScratch(Operation *root,
                                       ArrayRef<Value> values) {
  Numbers numbers(root);
  return llvm::map_to_vector(values, [&](Value value) {
    Operation *maker = value.getDefiningOp();
    int64_t begin = numbers.firstOf(maker);
    int64_t end = numbers.lastUseOf(value, maker->getBlock());
    return Scratch{value, scratchBytes(value.getType()), begin,
                   std::max(begin, end)};
  });
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

/// Whether lowering puts the tensor into a buffer of its own. Ops that start
/// from the same undefined or equal elements do not share them.
static bool isFresh(OpResult result) {
  Operation *op = result.getOwner();
  auto type = dyn_cast<mlir::RankedTensorType>(result.getType());
  if (!type || !type.hasStaticShape())
    return false;
  if (auto updating = dyn_cast<mlir::DestinationStyleOpInterface>(op)) {
    Value init = updating.getTiedOpOperand(result)->get();
    return init.getDefiningOp<mlir::tensor::EmptyOp>() ||
           (init.getDefiningOp<mlir::linalg::FillOp>() && !init.hasOneUse());
  }
  return !isView(op) && !op->hasTrait<mlir::OpTrait::ConstantLike>() &&
         !isa<mlir::tensor::EmptyOp, mlir::LoopLikeOpInterface,
              mlir::scf::IfOp>(op);
}

/// Whether an iteration passes on an argument that it got as another one.
static bool isMoved(OpOperand &passed) {
  auto argument = dyn_cast<BlockArgument>(passed.get());
  Operation *yield = passed.getOwner();
  return argument && argument.getOwner() == yield->getBlock() &&
         argument.getOwner()->getNumArguments() - argument.getArgNumber() !=
             yield->getNumOperands() - passed.getOperandNumber();
}

int64_t ckpt::loopScratchBytes(Operation *op) {
  SmallVector<Value> fresh;
  // What an iteration passes on as another value is moved once more, at its
  // end.
  int64_t atOnce = 0;
  auto move = [&](Value value) {
    auto type = dyn_cast<mlir::RankedTensorType>(value.getType());
    if (type && type.hasStaticShape())
      atOnce += llvm::alignTo(scratchBytes(type), alignment);
  };
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (OpResult result : inner->getResults())
      if (isFresh(result))
        fresh.push_back(result);
    if (isa<mlir::scf::YieldOp>(inner) &&
        isa<mlir::LoopLikeOpInterface>(inner->getParentOp()))
      for (OpOperand &passed : inner->getOpOperands())
        if (isMoved(passed))
          move(passed.get());
  });
  // The values of a loop that nobody reads afterwards.
  if (isa<mlir::LoopLikeOpInterface>(op))
    for (OpResult result : op->getResults())
      if (result.use_empty())
        move(result);
  SmallVector<Scratch> buffers = liveScratch(op, fresh);
  int64_t bytes = placeScratch(buffers) + atOnce;
  return bytes > stackBytes ? llvm::alignTo(bytes, alignment) : 0;
}
