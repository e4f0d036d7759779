//===- ReadAhead.cpp - Loads before arithmetic ----------------------------===//

#include "Conversion/Gpu/ReadAhead.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace ckpt;
using namespace mlir;

/// Reads that a thread has in flight, if its loops are as long.
static constexpr int64_t readsInFlight = 16;

static bool isLoad(Operation *op) {
  return isa<memref::LoadOp, vector::LoadOp>(op);
}

/// The loads in the body of \p loop; none if it has loops, writes or barriers.
static int64_t readsOf(scf::ForOp loop) {
  int64_t reads = 0;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    reads += isLoad(op);
    bool isFine = isLoad(op) || (isPure(op) && !isa<LoopLikeOpInterface>(op));
    return isFine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? 0 : reads;
}

namespace {
/// Moves the loads of a block, with the addresses that they need, to its begin,
/// or behind the last op before them that may write. So many that are in flight
/// go together: the loads of a whole block would take all registers.
class EarlyLoads {
public:
  explicit EarlyLoads(Block &block) : block(block) {}

  void move();

private:
  void goOnBehind(Operation *op, ArrayRef<Operation *> before);
  bool canMove(Operation *op) const;
  void moveUp(Operation *op);

  Block &block;
  /// The op behind which loads go; null at the begin of the block.
  Operation *last = nullptr;
  int64_t moved = 0;
  /// Ops that stand before that place, and ops that could.
  llvm::DenseSet<Operation *> settled, movable;
};
} // namespace

/// Loads go behind \p op from now on, and so behind all ops \p before it.
void EarlyLoads::goOnBehind(Operation *op, ArrayRef<Operation *> before) {
  settled.insert(before.begin(), before.end());
  settled.insert(op);
  last = op;
  moved = 0;
}

bool EarlyLoads::canMove(Operation *op) const {
  return (isLoad(op) || (isPure(op) && op->getNumRegions() == 0)) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *source = operand.getDefiningOp();
           return !source || source->getBlock() != &block ||
                  settled.contains(source) || movable.contains(source);
         });
}

void EarlyLoads::moveUp(Operation *op) {
  if (op->getBlock() != &block || !settled.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    if (Operation *source = operand.getDefiningOp())
      moveUp(source);
  if (last)
    op->moveAfter(last);
  else
    op->moveBefore(&block, block.begin());
  last = op;
}

void EarlyLoads::move() {
  auto ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
  for (auto [number, op] : llvm::enumerate(ops)) {
    ArrayRef<Operation *> before = ArrayRef(ops).take_front(number);
    if (!canMove(op)) {
      if (!isPure(op))
        goOnBehind(op, before);
      continue;
    }
    movable.insert(op);
    if (!isLoad(op) || settled.contains(op))
      continue;
    if (moved == readsInFlight)
      goOnBehind(op->getPrevNode(), before);
    moveUp(op);
    ++moved;
  }
}

/// Makes as many steps of \p loop at a time as have `readsInFlight` loads, and
/// those that are left over at once.
static LogicalResult unroll(scf::ForOp loop) {
  int64_t together = readsInFlight / readsOf(loop);
  if (std::optional<APInt> steps = loop.getStaticTripCount())
    together = std::min<int64_t>(together, steps->getZExtValue());
  if (together <= 1)
    return success();
  FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, together);
  if (failed(unrolled))
    return failure();
  return unrolled->epilogueLoopOp ? loopUnrollFull(*unrolled->epilogueLoopOp)
                                  : success();
}

LogicalResult ckpt::readAhead(gpu::GPUFuncOp function) {
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) {
    int64_t reads = readsOf(loop);
    if (reads > 0 && reads < readsInFlight)
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    if (failed(unroll(loop)))
      return failure();
  function.walk([](Block *block) { EarlyLoads(*block).move(); });
  return success();
}
