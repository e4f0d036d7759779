//===- EmitGpuOwned.cpp - Loops of the user whose elements have owners ----===//
//
// A scatter's loop over its updates has an order, but each element of the
// destination only waits for the updates of itself. So every element has an
// owner among the threads of many blocks: all threads run the loop, and each
// makes the updates of its own elements. The order of the program holds for
// every element, without atomics and without barriers. `emitGpuOpaque` asks
// here first; the loops that do not fit keep to one block.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Gpu/ReadAhead.h"
#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace ckpt;
using namespace mlir;

/// Threads that keep all multiprocessors of a device busy: every thread runs
/// the whole loop, so more of them would only repeat more of it.
static constexpr int64_t enoughThreads = 1 << 16;

namespace {
/// The elements of an argument that one write goes to: `extents` of them from
/// `offsets` on, all in one piece of memory.
struct Piece {
  bool operator==(const Piece &other) const {
    return root == other.root && offsets == other.offsets &&
           extents == other.extents;
  }

  BlockArgument root;
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> extents;
};

/// Finds the pieces that a function writes, and whether every element can have
/// an owner.
class Ownership {
public:
  explicit Ownership(gpu::GPUFuncOp function)
      : function(function), entry(&function.getBody().front()) {}

  /// Whether a thread reads of the memory that the function writes nothing but
  /// the elements that it writes itself.
  bool holds();
  ArrayRef<std::pair<Operation *, Piece>> getWrites() const { return writes; }
  /// Neighbours that are written together wherever one of them is: a row.
  int64_t rowElements() const;
  /// Rows of the largest argument that is written.
  int64_t mostRows() const;
  /// Whether \p op writes to \p written the values that stand there.
  bool isCopyOntoItself(Operation *op, const Piece &written) const;

private:
  std::optional<Piece> pieceOf(Value buffer) const;
  bool addWrite(Operation *op);
  bool readsItsOwn(Operation *op, const Piece &written);
  bool isUntouched(Value buffer) const;

  gpu::GPUFuncOp function;
  Block *entry;
  SmallVector<std::pair<Operation *, Piece>> writes;
};
} // namespace

/// The memory that \p buffer is a view of.
static Value baseOf(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// The dimensions from here on are whole in \p piece.
static size_t firstWhole(const Piece &piece) {
  ArrayRef<int64_t> shape = cast<MemRefType>(piece.root.getType()).getShape();
  size_t dim = shape.size();
  while (dim > 0 && piece.extents[dim - 1] == shape[dim - 1])
    --dim;
  return dim;
}

static int64_t productFrom(ArrayRef<int64_t> extents, size_t dim) {
  return ShapedType::getNumElements(extents.drop_front(dim));
}

/// All of an argument, or a slice of one that is one piece of memory.
std::optional<Piece> Ownership::pieceOf(Value buffer) const {
  auto slice = buffer.getDefiningOp<memref::SubViewOp>();
  auto root = dyn_cast<BlockArgument>(slice ? slice.getSource() : buffer);
  if (!root || root.getOwner() != entry)
    return std::nullopt;
  auto type = cast<MemRefType>(root.getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity())
    return std::nullopt;
  if (!slice) {
    OpFoldResult zero = Builder(root.getContext()).getIndexAttr(0);
    return Piece{root, SmallVector<OpFoldResult>(type.getRank(), zero),
                 llvm::to_vector(type.getShape())};
  }
  Piece piece{root, slice.getMixedOffsets(),
              llvm::to_vector(slice.getStaticSizes())};
  if (ShapedType::isDynamicShape(piece.extents) ||
      !llvm::all_of(slice.getStaticStrides(),
                    [](int64_t stride) { return stride == 1; }))
    return std::nullopt;
  size_t whole = firstWhole(piece);
  bool isOnePiece = whole == 0 || productFrom(piece.extents, 0) ==
                                      productFrom(piece.extents, whole - 1);
  return isOnePiece ? std::optional(piece) : std::nullopt;
}

bool Ownership::addWrite(Operation *op) {
  std::optional<Piece> piece;
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    piece = pieceOf(store.getMemRef());
    if (!piece)
      return false;
    // Of an argument itself.
    if (!isa<BlockArgument>(store.getMemRef()))
      return false;
    piece->offsets = getAsOpFoldResult(store.getIndices());
    piece->extents.assign(piece->extents.size(), 1);
  } else {
    auto elementwise = cast<linalg::LinalgOp>(op);
    if (elementwise.getNumParallelLoops() != elementwise.getNumLoops() ||
        elementwise.getNumDpsInits() != 1)
      return false;
    OpOperand *init = elementwise.getDpsInitOperand(0);
    if (!elementwise.getMatchingIndexingMap(init).isIdentity())
      return false;
    piece = pieceOf(init->get());
  }
  if (piece)
    writes.push_back({op, *piece});
  return piece.has_value();
}

/// Whether nothing writes to the memory of \p buffer.
bool Ownership::isUntouched(Value buffer) const {
  Value base = baseOf(buffer);
  if (base.getDefiningOp<memref::GetGlobalOp>())
    return true;
  auto argument = dyn_cast<BlockArgument>(base);
  return argument && argument.getOwner() == entry &&
         llvm::none_of(writes, [&](const auto &write) {
           return write.second.root == argument;
         });
}

/// An index as it was before it was kept below \p extent. An access that is
/// made lies inside, so both name one element.
static Value unclamped(Value index, int64_t extent) {
  auto below = index.getDefiningOp<arith::MinSIOp>();
  auto above = below ? below.getLhs().getDefiningOp<arith::MaxSIOp>() : nullptr;
  bool isClamp = above && isConstantIntValue(below.getRhs(), extent - 1) &&
                 isConstantIntValue(above.getRhs(), 0);
  return isClamp ? above.getLhs() : index;
}

/// Whether \p value decides about nothing but the value that \p store writes.
static bool servesOnly(Value value, memref::StoreOp store) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == store)
      return use.get() == store.getValueToStore() &&
             !llvm::is_contained(store.getIndices(), value);
    return user->getBlock() == store->getBlock() && isPure(user) &&
           user->getNumRegions() == 0 &&
           llvm::all_of(user->getResults(), [&](Value result) {
             return servesOnly(result, store);
           });
  });
}

/// Whether \p load reads the element that \p store writes, and for nothing but
/// the value that it writes.
static bool updates(memref::StoreOp store, memref::LoadOp load) {
  if (store->getBlock() != load->getBlock() ||
      store.getMemRef() != load.getMemRef())
    return false;
  for (auto [written, read, extent] :
       llvm::zip_equal(store.getIndices(), load.getIndices(),
                       load.getMemRefType().getShape()))
    if (unclamped(written, extent) != unclamped(read, extent))
      return false;
  return servesOnly(load.getResult(), store);
}

bool Ownership::readsItsOwn(Operation *op, const Piece &written) {
  auto elementwise = dyn_cast<linalg::LinalgOp>(op);
  if (!elementwise)
    return true;
  return llvm::all_of(elementwise.getDpsInputOperands(), [&](OpOperand *input) {
    if (!isa<MemRefType>(input->get().getType()) || isUntouched(input->get()))
      return true;
    return elementwise.getMatchingIndexingMap(input).isIdentity() &&
           pieceOf(input->get()) == written;
  });
}

bool Ownership::holds() {
  WalkResult result = function.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp, memref::StoreOp>(op))
      return addWrite(op) ? WalkResult::advance() : WalkResult::interrupt();
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    bool isFine = op == function ||
                  op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                  (effects && !effects.hasEffect<MemoryEffects::Write>() &&
                   !effects.hasEffect<MemoryEffects::Allocate>());
    return isFine ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted() || writes.empty())
    return false;
  bool ownReads = llvm::all_of(writes, [&](const auto &write) {
    return readsItsOwn(write.first, write.second);
  });
  if (!ownReads)
    return false;
  // All threads load: one that owns the element, or one that does not use it.
  result = function.walk([&](memref::LoadOp load) {
    bool isFine = isUntouched(load.getMemRef()) ||
                  llvm::any_of(writes, [&](const auto &write) {
                    auto store = dyn_cast<memref::StoreOp>(write.first);
                    return store && updates(store, load);
                  });
    return isFine ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

bool Ownership::isCopyOntoItself(Operation *op, const Piece &written) const {
  auto copy = dyn_cast<linalg::LinalgOp>(op);
  if (!copy || copy.getNumDpsInputs() != 1)
    return false;
  OpOperand *input = copy.getDpsInputOperand(0);
  Operation *yield = copy.getBlock()->getTerminator();
  return yield->getOperand(0) == copy.getMatchingBlockArgument(input) &&
         copy.getMatchingIndexingMap(input).isIdentity() &&
         pieceOf(input->get()) == written;
}

int64_t Ownership::rowElements() const {
  int64_t elements = 0;
  for (const auto &[op, piece] : writes)
    elements =
        std::gcd(elements, productFrom(piece.extents, firstWhole(piece)));
  return elements;
}

int64_t Ownership::mostRows() const {
  int64_t elements = 0;
  for (const auto &[op, piece] : writes)
    elements = std::max(
        elements, cast<MemRefType>(piece.root.getType()).getNumElements());
  return elements / rowElements();
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// Gives the writes of a function to its threads: thread t makes element
/// t mod `row` of each `owners`th row.
class OwnedWrites {
public:
  OwnedWrites(gpu::GPUFuncOp function, int64_t row, int64_t owners);

  LogicalResult share(Operation *op, const Piece &piece);
  LaunchSize size() const {
    return {
        static_cast<int64_t>(llvm::divideCeil(row * owners, threadsPerBlock))};
  }

private:
  Value constant(ImplicitLocOpBuilder &builder, int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  /// The first row of \p piece in its argument.
  Value firstRow(ImplicitLocOpBuilder &builder, const Piece &piece);
  /// The rows of \p piece, counted from its first one, that this thread owns.
  scf::ForOp ownRows(ImplicitLocOpBuilder &builder, const Piece &piece);
  LogicalResult emitElement(linalg::LinalgOp op, Value number);

  int64_t row, owners;
  /// Of this thread.
  Value owner, place;
};
} // namespace

OwnedWrites::OwnedWrites(gpu::GPUFuncOp function, int64_t row, int64_t owners)
    : row(row), owners(owners) {
  ImplicitLocOpBuilder builder(function.getLoc(), function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  Value block = gpu::BlockIdOp::create(builder, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(builder, gpu::Dimension::x);
  Value first =
      arith::MulIOp::create(builder, block, constant(builder, threadsPerBlock));
  Value number = arith::AddIOp::create(builder, first, thread);
  Value elements = constant(builder, row);
  owner = arith::DivUIOp::create(builder, number, elements);
  place = arith::RemUIOp::create(builder, number, elements);
}

Value OwnedWrites::firstRow(ImplicitLocOpBuilder &builder, const Piece &piece) {
  ArrayRef<int64_t> shape = cast<MemRefType>(piece.root.getType()).getShape();
  Value first = constant(builder, 0);
  for (auto [dim, offset] : llvm::enumerate(piece.offsets)) {
    if (isZeroInteger(offset))
      continue;
    Value rows = constant(builder, productFrom(shape, dim + 1) / row);
    Value here =
        getValueOrCreateConstantIndexOp(builder, builder.getLoc(), offset);
    first = arith::AddIOp::create(builder, first,
                                  arith::MulIOp::create(builder, here, rows));
  }
  return first;
}

/// Threads past the last owner have none.
scf::ForOp OwnedWrites::ownRows(ImplicitLocOpBuilder &builder,
                                const Piece &piece) {
  Value all = constant(builder, owners);
  Value zero = constant(builder, 0);
  Value begin = arith::RemUIOp::create(builder, firstRow(builder, piece), all);
  Value ahead = arith::SubIOp::create(
      builder, arith::AddIOp::create(builder, owner, all), begin);
  Value isOwner =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, owner, all);
  Value rows = constant(builder, productFrom(piece.extents, 0) / row);
  Value end = arith::SelectOp::create(builder, isOwner, rows, zero);
  return scf::ForOp::create(
      builder, arith::RemUIOp::create(builder, ahead, all), end, all);
}

/// Element \p number of \p op, which is emitted in its place.
LogicalResult OwnedWrites::emitElement(linalg::LinalgOp op, Value number) {
  IRRewriter rewriter(op);
  FailureOr<linalg::LinalgLoops> loops =
      linalg::linalgOpToParallelLoops(rewriter, op);
  if (failed(loops))
    return op.emitError("expected an op that can become loops");
  rewriter.eraseOp(op);
  if (loops->empty())
    return success();
  auto parallel = cast<scf::ParallelOp>(loops->front());
  ImplicitLocOpBuilder builder(parallel.getLoc(), parallel);
  replaceCounters(parallel, number, builder);
  Block *body = parallel.getBody();
  parallel->getBlock()->getOperations().splice(
      parallel->getIterator(), body->getOperations(), body->begin(),
      body->getTerminator()->getIterator());
  parallel.erase();
  return success();
}

/// Whether \p choice decides about nothing but \p op.
static bool guardsOnly(scf::IfOp choice, Operation *op) {
  if (choice.elseBlock() || choice.getNumResults() > 0)
    return false;
  WalkResult result =
      choice.thenBlock()->walk<WalkOrder::PreOrder>([&](Operation *inside) {
        if (inside == op)
          return WalkResult::skip();
        bool isFine = isa<scf::IfOp, memref::LoadOp>(inside) ||
                      isMemoryEffectFree(inside);
        return isFine ? WalkResult::advance() : WalkResult::interrupt();
      });
  return !result.wasInterrupted();
}

/// Takes out of \p choice what is computed alike outside.
static void hoist(scf::IfOp choice) {
  moveLoopInvariantCode(
      &choice.getThenRegion(),
      [](Value value, Region *region) {
        return value.getParentRegion()->isProperAncestor(region);
      },
      [](Operation *op, Region *) {
        return isPure(op) && op->getNumRegions() == 0;
      },
      [&](Operation *op, Region *) { op->moveBefore(choice); });
}

/// \p op, or the outermost condition that guards nothing else and knows where
/// \p piece is: whoever does not own it need not look further.
static Operation *guardOf(Operation *op, const Piece &piece) {
  while (auto choice = dyn_cast<scf::IfOp>(op->getParentOp())) {
    hoist(choice);
    bool isKnown = llvm::none_of(piece.offsets, [&](OpFoldResult offset) {
      auto value = dyn_cast<Value>(offset);
      return value &&
             choice.getThenRegion().isAncestor(value.getParentRegion());
    });
    if (!isKnown || !guardsOnly(choice, op))
      break;
    op = choice;
  }
  return op;
}

LogicalResult OwnedWrites::share(Operation *op, const Piece &piece) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  Value number = place;
  if (productFrom(piece.extents, 0) == row) {
    Operation *guard = guardOf(op, piece);
    builder.setInsertionPoint(guard);
    Value rest = arith::RemUIOp::create(builder, firstRow(builder, piece),
                                        constant(builder, owners));
    Value isOwn =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, rest, owner);
    auto choice = scf::IfOp::create(builder, isOwn, /*withElseRegion=*/false);
    guard->moveBefore(choice.thenBlock()->getTerminator());
  } else {
    scf::ForOp rows = ownRows(builder, piece);
    builder.setInsertionPointToStart(rows.getBody());
    number = arith::AddIOp::create(
        builder,
        arith::MulIOp::create(builder, rows.getInductionVar(),
                              constant(builder, row)),
        place);
    op->moveBefore(rows.getBody()->getTerminator());
  }
  auto elementwise = dyn_cast<linalg::LinalgOp>(op);
  return elementwise ? emitElement(elementwise, number) : success();
}

/// Carries that stay one buffer become that buffer.
static LogicalResult resolveCarries(gpu::GPUFuncOp function) {
  RewritePatternSet patterns(function.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, function.getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, function.getContext());
  return rewriteExactly(function, std::move(patterns));
}

FailureOr<std::optional<LaunchSize>>
ckpt::emitGpuOwned(gpu::GPUFuncOp function) {
  if (failed(resolveCarries(function)))
    return failure();
  Ownership ownership(function);
  if (!ownership.holds())
    return std::optional<LaunchSize>();
  int64_t row = ownership.rowElements();
  if (row == 0)
    return std::optional<LaunchSize>();
  int64_t owners =
      std::min<int64_t>(llvm::divideCeil(enoughThreads, row),
                        std::max<int64_t>(ownership.mostRows(), 1));
  OwnedWrites writes(function, row, llvm::bit_floor<uint64_t>(owners));
  SmallVector<std::pair<Operation *, Piece>> shared;
  for (const auto &[op, piece] : ownership.getWrites()) {
    if (ownership.isCopyOntoItself(op, piece))
      op->erase();
    else
      shared.push_back({op, piece});
  }
  for (const auto &[op, piece] : shared)
    if (failed(writes.share(op, piece)))
      return failure();
  if (failed(readAhead(function, writes.size())))
    return failure();
  return std::optional(writes.size());
}
