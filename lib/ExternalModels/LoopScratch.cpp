//===- LoopScratch.cpp - Memory of what a loop makes inside ---------------===//

#include "ckpt/ExternalModels/LoopScratch.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace ckpt;

/// Of buffers, a cache line.
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
