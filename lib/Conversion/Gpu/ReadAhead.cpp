//===- ReadAhead.cpp - Loads before arithmetic ----------------------------===//

#include "Conversion/Gpu/ReadAhead.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

static bool isLoad(Operation *op) {
  return isa<memref::LoadOp, vector::LoadOp>(op);
}

static bool isBarrierOrLoop(Operation *op) {
  return isa<gpu::BarrierOp, LoopLikeOpInterface>(op);
}

/// Whether \p op reads memory at most; its regions answer for themselves.
static bool isHarmless(Operation *op) {
  return isLoad(op) || isMemoryEffectFree(op) ||
         op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
}

static bool onlyReads(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](Operation *op) {
                return isHarmless(op) ? WalkResult::advance()
                                      : WalkResult::interrupt();
              })
              .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// How far ahead
//===----------------------------------------------------------------------===//

/// Loads that keep a device's memory busy, of all threads together, and those
/// of one thread at least and at most.
static constexpr int64_t readsOfAll = 1 << 20;
static constexpr int64_t fewestReads = 16;
static constexpr int64_t mostReads = 64;
/// Of a multiprocessor; half of them may wait for memory.
static constexpr int64_t registerCount = 1 << 16;

/// Registers that the widest load of \p function takes.
static int64_t widestLoad(gpu::GPUFuncOp function) {
  int64_t bits = 32;
  function.walk([&](Operation *op) {
    if (!isLoad(op))
      return;
    Type type = op->getResult(0).getType();
    int64_t lanes = 1;
    if (auto vector = dyn_cast<VectorType>(type))
      lanes = vector.getNumElements();
    Type element = getElementTypeOrSelf(type);
    if (element.isIntOrFloat())
      bits = std::max<int64_t>(bits, lanes * element.getIntOrFloatBitWidth());
  });
  return llvm::divideCeil(bits, 32);
}

/// Reads that a thread has in flight, if its loops are as long. Many threads
/// wait for each other's, few wait for their own.
static int64_t readsInFlight(gpu::GPUFuncOp function, const LaunchSize &size) {
  int64_t threads = std::max<int64_t>(1, size.blocks * size.threads);
  int64_t most = std::min(mostReads, registerCount / 2 / size.threads) /
                 widestLoad(function);
  int64_t wanted = llvm::bit_floor<uint64_t>(readsOfAll / threads);
  return std::max(fewestReads, std::min(most, wanted));
}

/// `ptxas` moves loads down to where 32 registers do, so that many blocks fit a
/// multiprocessor. Here no more than one comes.
static void allowManyRegisters(gpu::GPUFuncOp function) {
  function->setDiscardableAttr(
      NVVM::NVVMDialect::getMinctasmAttrName(),
      Builder(function.getContext()).getI32IntegerAttr(1));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

namespace {
/// The memory that a kernel reads and does not write. An output may lie over an
/// input only where nothing reads what was written, so reads of inputs may go
/// before any write.
class Inputs {
public:
  explicit Inputs(gpu::GPUFuncOp function);

  bool isRead(Operation *load) const;

private:
  static Value rootOf(Value buffer);

  Block *entry;
  llvm::DenseSet<Value> written;
  bool isAllWritten = false;
};

/// Moves the loads of a block, with the addresses that they need, to its begin,
/// or behind the last loop or barrier, or op before them that may write what
/// they read. So many that are in flight go together: the loads of a whole
/// block would take all registers.
class EarlyLoads {
public:
  EarlyLoads(Block &block, const Inputs &inputs, int64_t reads)
      : block(block), inputs(inputs), reads(reads) {}

  void move();

private:
  void goOnBehind(Operation *op, ArrayRef<Operation *> before);
  bool canMove(Operation *op) const;
  void moveUp(Operation *op);

  Block &block;
  const Inputs &inputs;
  int64_t reads;
  /// The op behind which loads go; null at the begin of the block.
  Operation *last = nullptr;
  int64_t moved = 0;
  /// Whether an op between there and here may write.
  bool mayWrite = false;
  /// Ops that stand before that place, and ops that could.
  llvm::DenseSet<Operation *> settled, movable;
};
} // namespace

Value Inputs::rootOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

Inputs::Inputs(gpu::GPUFuncOp function) : entry(&function.getBody().front()) {
  function.walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (isa<MemoryEffects::Read>(effect.getEffect()))
        continue;
      if (Value buffer = effect.getValue())
        written.insert(rootOf(buffer));
      else
        isAllWritten |= isa<MemoryEffects::Write>(effect.getEffect());
    }
  });
}

/// Memory that threads share belongs to none of the arguments.
bool Inputs::isRead(Operation *load) const {
  Value root = rootOf(load->getOperand(0));
  auto argument = dyn_cast<BlockArgument>(root);
  bool isGiven = argument
                     ? argument.getOwner() == entry
                     : root.getDefiningOp<memref::GetGlobalOp>() != nullptr;
  return isGiven && !cast<MemRefType>(root.getType()).getMemorySpace() &&
         !isAllWritten && !written.contains(root);
}

/// Loads go behind \p op from now on, and so behind all ops \p before it.
void EarlyLoads::goOnBehind(Operation *op, ArrayRef<Operation *> before) {
  settled.insert(before.begin(), before.end());
  settled.insert(op);
  last = op;
  moved = 0;
  mayWrite = false;
}

bool EarlyLoads::canMove(Operation *op) const {
  bool isFree = isLoad(op) ? !mayWrite || inputs.isRead(op)
                           : isPure(op) && op->getNumRegions() == 0;
  return isFree && llvm::all_of(op->getOperands(), [&](Value operand) {
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
    if (op->walk([](Operation *inside) {
            return isBarrierOrLoop(inside) ? WalkResult::interrupt()
                                           : WalkResult::advance();
          }).wasInterrupted()) {
      goOnBehind(op, before);
      continue;
    }
    if (!canMove(op)) {
      mayWrite |= !isLoad(op) && !isPure(op);
      continue;
    }
    movable.insert(op);
    if (!isLoad(op) || settled.contains(op))
      continue;
    if (moved == reads)
      goOnBehind(op->getPrevNode(), before);
    moveUp(op);
    ++moved;
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The steps that \p loop makes, if that is known.
static std::optional<int64_t> stepsOf(scf::ForOp loop) {
  std::optional<APInt> steps = loop.getStaticTripCount();
  return steps ? std::optional<int64_t>(steps->getZExtValue()) : std::nullopt;
}

/// Takes out of \p loop what all of its steps read at one place, and what they
/// compute of it.
static void hoist(scf::ForOp loop) {
  if (stepsOf(loop).value_or(0) == 0 || !onlyReads(loop))
    return;
  moveLoopInvariantCode(
      &loop.getRegion(),
      [](Value value, Region *region) {
        return value.getParentRegion()->isProperAncestor(region);
      },
      [](Operation *op, Region *) {
        return isLoad(op) || (isPure(op) && op->getNumRegions() == 0);
      },
      [&](Operation *op, Region *) { op->moveBefore(loop); });
}

/// The loads of a step of \p loop that can be made before those of the step
/// before end; none if it has loops or barriers.
static int64_t readsOf(scf::ForOp loop, const Inputs &inputs) {
  WalkResult result = loop.getBody()->walk([](Operation *op) {
    return isBarrierOrLoop(op) ? WalkResult::interrupt()
                               : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return 0;
  bool isFree = onlyReads(loop);
  return llvm::count_if(*loop.getBody(), [&](Operation &op) {
    return isLoad(&op) && (isFree || inputs.isRead(&op));
  });
}

/// Makes as many steps of \p loop at a time as have \p reads loads, and those
/// that are left over at once. Steps that write are long, so no more of them
/// than any thread makes.
static LogicalResult unroll(scf::ForOp loop, const Inputs &inputs,
                            int64_t reads) {
  int64_t ofStep = readsOf(loop, inputs);
  std::optional<int64_t> steps = stepsOf(loop);
  if (ofStep == 0)
    return success();
  int64_t wanted = onlyReads(loop) ? reads : fewestReads;
  int64_t together = std::min(wanted / ofStep, steps.value_or(wanted));
  if (together <= 1)
    return success();
  FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, together);
  if (failed(unrolled))
    return failure();
  return steps && unrolled->epilogueLoopOp
             ? loopUnrollFull(*unrolled->epilogueLoopOp)
             : success();
}

/// Puts \p choices, between which a block does nothing but compute, below one
/// condition that any of theirs holds.
static void joinBranches(ArrayRef<scf::IfOp> choices) {
  scf::IfOp first = choices.front(), last = choices.back();
  SmallVector<Operation *> between;
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (!llvm::is_contained(choices, op))
      between.push_back(op);
  bool canJoin =
      llvm::all_of(between, isPure) && llvm::all_of(choices, [](scf::IfOp op) {
        return op.getNumResults() == 0 && !op.elseBlock();
      });
  if (!canJoin)
    return;
  for (Operation *op : between)
    op->moveBefore(first);
  OpBuilder builder(first);
  Value any = first.getCondition();
  for (scf::IfOp choice : choices.drop_front())
    any = arith::OrIOp::create(builder, choice.getLoc(), any,
                               choice.getCondition());
  auto all = scf::IfOp::create(builder, first.getLoc(), any,
                               /*withElseRegion=*/false);
  for (scf::IfOp choice : choices)
    choice->moveBefore(all.thenBlock()->getTerminator());
}

/// Asks for four conditions of \p block at once, as steps of a scatter have
/// them: few are the thread's own. `ptxas` makes no branch of one that guards
/// little.
static void joinBranches(Block &block) {
  constexpr size_t together = 4;
  auto choices = llvm::to_vector(block.getOps<scf::IfOp>());
  for (ArrayRef rest(choices); rest.size() >= together;
       rest = rest.drop_front(together))
    joinBranches(rest.take_front(together));
}

LogicalResult ckpt::readAhead(gpu::GPUFuncOp function, const LaunchSize &size) {
  Inputs inputs(function);
  int64_t reads = readsInFlight(function, size);
  if (reads > fewestReads)
    allowManyRegisters(function);
  // Loops inside others come first: what is left of one that is short is part
  // of a step of the next.
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) {
    hoist(loop);
    if (failed(unroll(loop, inputs, reads)))
      return failure();
  }
  function.walk(
      [&](Block *block) { EarlyLoads(*block, inputs, reads).move(); });
  SmallVector<Block *> blocks;
  function.walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    joinBranches(*block);
  return success();
}
