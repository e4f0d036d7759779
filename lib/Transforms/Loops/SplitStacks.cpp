//===- SplitStacks.cpp - Ops on stacks as ops on their pieces -------------===//
//
// Three walks over the block. Forward: find the ops that could run row by row,
// and their rows. Backward: find the stacks that some reader wants as a whole.
// Forward: split the ops that read stacks and whose results no reader wants as
// a whole.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Loops/SplitStacks.h"
#include "Transforms/Loops/ForwardStacks.h"
#include "Transforms/Loops/RestrictLoop.h"
#include "Transforms/Loops/Stacks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseSet.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::RankedTensorType;

namespace {

/// Rows of a stack that stay together; zeros may be parted.
struct Rows {
  int64_t begin, size;
  bool areZeros;
};

/// How a value could be split.
struct Layout {
  int64_t dim;
  SmallVector<Rows, 2> rows;
};

class Splitter {
public:
  explicit Splitter(Block &block) : block(block) {}
  int64_t run();

private:
  void findLayouts();
  void findWholeReaders();
  void findLayout(linalg::GenericOp op);
  bool readsByRows(OpOperand &use);
  bool split(linalg::GenericOp op);
  void splitParallel(linalg::GenericOp op, unsigned loop,
                     ArrayRef<Rows> allRows);
  void splitReduction(linalg::GenericOp op, unsigned loop,
                      ArrayRef<Rows> allRows);
  linalg::GenericOp emit(OpBuilder &builder, linalg::GenericOp op,
                         const LoopRange &range, ValueRange inits);
  Value rowsOf(OpBuilder &builder, OpOperand &operand, int64_t dim,
               const LoopRange &range);
  std::optional<Piece> addedZeros(OpBuilder &builder, linalg::GenericOp op,
                                  const LoopRange &range);

  Block &block;
  Stacks stacks;
  llvm::DenseMap<Value, Layout> layouts;
  /// The loop over rows of each op that could be split.
  llvm::DenseMap<Operation *, unsigned> rowLoops;
  llvm::DenseSet<Value> wholes;
};

} // namespace

static bool isParallel(linalg::GenericOp op, unsigned loop) {
  return op.getIteratorTypesArray()[loop] ==
         mlir::utils::IteratorType::parallel;
}

static Layout layoutOf(const Stack &stack) {
  Layout layout{stack.dim, {}};
  for (const Piece &piece : stack.pieces)
    layout.rows.push_back({piece.begin, piece.size, !piece.source});
  return layout;
}

/// An addition of two inputs, element by element.
static bool isAddition(linalg::GenericOp op) {
  Operation *yield = op.getBody()->getTerminator();
  if (op.getNumDpsInputs() != 2 || op->getNumResults() != 1)
    return false;
  Operation *sum = yield->getOperand(0).getDefiningOp();
  mlir::AffineMap first = op.getIndexingMapsArray().front();
  auto isInput = [&](Value value, unsigned number) {
    return value == op.getBody()->getArgument(number);
  };
  return mlir::isa_and_nonnull<mlir::arith::AddFOp, mlir::arith::AddIOp>(sum) &&
         isInput(sum->getOperand(0), 0) && isInput(sum->getOperand(1), 1) &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [&](mlir::AffineMap map) { return map == first; });
}

/// The rows of both; none where one would part rows that the other holds
/// together. The sum of zeros and zeros is zeros.
static std::optional<SmallVector<Rows, 2>>
joined(ArrayRef<Rows> left, ArrayRef<Rows> right, bool isSum) {
  SmallVector<Rows, 2> all;
  for (int64_t begin = 0; !left.empty() && !right.empty();) {
    const Rows &a = left.front(), &b = right.front();
    int64_t endOfA = a.begin + a.size, endOfB = b.begin + b.size;
    int64_t end = std::min(endOfA, endOfB), size = end - begin;
    if ((size < a.size && !a.areZeros) || (size < b.size && !b.areZeros))
      return std::nullopt;
    all.push_back({begin, size, isSum && a.areZeros && b.areZeros});
    begin = end;
    left = left.drop_front(end == endOfA);
    right = right.drop_front(end == endOfB);
  }
  return all;
}

/// Whether \p op may run row by row of \p loop. A product reads its other
/// factor for each row again, unless the factor has rows too.
static bool maySplit(linalg::GenericOp op, unsigned loop) {
  return canRestrict(op, loop) &&
         (!linalg::isaContractionOpInterface(op) ||
          llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
            return isParallel(op, loop) &&
                   dimOfLoop(op.getMatchingIndexingMap(input), loop);
          }));
}

void Splitter::findLayout(linalg::GenericOp op) {
  std::optional<unsigned> loop;
  SmallVector<Rows, 2> rows;
  int numStacks = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto found = layouts.find(input->get());
    if (found == layouts.end() || found->second.rows.size() < 2)
      continue;
    auto expr = dyn_cast<mlir::AffineDimExpr>(
        op.getMatchingIndexingMap(input).getResult(found->second.dim));
    if (!expr || (loop && *loop != expr.getPosition()))
      continue;
    auto both = loop ? joined(rows, found->second.rows, isAddition(op))
                     : found->second.rows;
    if (!both)
      return;
    loop = expr.getPosition();
    rows = *both;
    ++numStacks;
  }
  if (!loop || !maySplit(op, *loop))
    return;
  // Any other op on zeros makes any number.
  if (numStacks < 2 || !isAddition(op))
    for (Rows &part : rows)
      part.areZeros = false;
  bool isMap = isParallel(op, *loop);
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    auto dim = dimOfLoop(op.getIndexingMapMatchingResult(result), *loop);
    if (dim.has_value() != isMap)
      return;
    if (dim)
      layouts[result] = {*dim, rows};
  }
  rowLoops[op] = *loop;
}

void Splitter::findLayouts() {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    stacks.read(op);
    for (Value result : op.getResults())
      if (const Stack *stack = stacks.find(result))
        layouts[result] = layoutOf(*stack);
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      findLayout(generic);
  }
}

/// Whether the op that \p use belongs to could read rows of it one by one.
bool Splitter::readsByRows(OpOperand &use) {
  Operation *op = use.getOwner();
  if (op->hasTrait<mlir::OpTrait::IsTerminator>())
    return true;
  const Layout &layout = layouts.find(use.get())->second;
  auto areSplit = [&](ValueRange results) {
    return llvm::none_of(results, [&](Value v) { return wholes.contains(v); });
  };
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (layouts.contains(slice.getResult()))
      return areSplit(op->getResults());
    int64_t from = slice.getStaticOffsets()[layout.dim];
    int64_t size = slice.getStaticSizes()[layout.dim];
    return llvm::any_of(layout.rows, [&](const Rows &rows) {
      return rows.begin <= from && from + size <= rows.begin + rows.size;
    });
  }
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return layouts.contains(op->getResult(0)) && areSplit(op->getResults());
  auto loop = rowLoops.find(op);
  if (loop == rowLoops.end())
    return false;
  auto generic = cast<linalg::GenericOp>(op);
  bool isInput = use.getOperandNumber() < generic.getNumDpsInputs();
  auto dim = dimOfLoop(generic.getMatchingIndexingMap(&use), loop->second);
  return isInput && dim == layout.dim && areSplit(op->getResults());
}

void Splitter::findWholeReaders() {
  for (Operation &op : llvm::reverse(block)) {
    for (OpOperand &use : op.getOpOperands())
      if (layouts.contains(use.get()) && !readsByRows(use))
        wholes.insert(use.get());
    // A region reads its captured values as a whole.
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (layouts.contains(operand))
            wholes.insert(operand);
      });
  }
}

Value Splitter::rowsOf(OpBuilder &builder, OpOperand &operand, int64_t dim,
                       const LoopRange &range) {
  Location loc = operand.getOwner()->getLoc();
  const Stack *stack = stacks.find(operand.get());
  if (!stack || stack->dim != dim)
    return sliceRows(builder, loc, operand.get(), dim, range.begin, range.size,
                     range.drops());
  Piece piece = *stack->find(range.begin, range.size);
  piece.offset += range.begin - piece.begin;
  piece.size = range.size;
  return pieceValue(builder, loc, operand.get().getType(), dim, piece,
                    range.drops());
}

linalg::GenericOp Splitter::emit(OpBuilder &builder, linalg::GenericOp op,
                                 const LoopRange &range, ValueRange inits) {
  return restrictLoop(builder, op, range, inits,
                      [&](OpOperand &operand, int64_t dim) {
                        return rowsOf(builder, operand, dim, range);
                      });
}

/// The other addend where one is zeros in \p range.
std::optional<Piece> Splitter::addedZeros(OpBuilder &builder,
                                          linalg::GenericOp op,
                                          const LoopRange &range) {
  if (!isAddition(op) ||
      op.getIndexingMapsArray().front().getNumResults() != op.getNumLoops())
    return std::nullopt;
  int64_t dim = *dimOfLoop(op.getIndexingMapsArray().front(), range.loop);
  auto isZeros = [&](OpOperand *operand) {
    const Stack *stack = stacks.find(operand->get());
    return stack && stack->dim == dim &&
           !stack->find(range.begin, range.size)->source;
  };
  OpOperand *left = op.getDpsInputOperand(0), *right = op.getDpsInputOperand(1);
  if (!isZeros(left) && !isZeros(right))
    return std::nullopt;
  Piece piece{range.begin, range.size, Value()};
  OpOperand *other = isZeros(left) ? right : left;
  if (!isZeros(other)) {
    LoopRange withDim = range;
    const Stack *stack = stacks.find(other->get());
    piece.source =
        stack && stack->dim == dim
            ? pieceValue(builder, op.getLoc(), other->get().getType(), dim,
                         *stack->find(withDim.begin, withDim.size))
            : sliceRows(builder, op.getLoc(), other->get(), dim, range.begin,
                        range.size);
  }
  return piece;
}

void Splitter::splitParallel(linalg::GenericOp op, unsigned loop,
                             ArrayRef<Rows> allRows) {
  OpBuilder builder(op);
  SmallVector<Stack> results;
  for (Value result : op->getResults())
    results.push_back(
        {*dimOfLoop(op.getIndexingMapMatchingResult(cast<OpResult>(result)),
                    loop),
         {}});
  for (const Rows &rows : allRows) {
    LoopRange range{loop, rows.begin, rows.size};
    if (std::optional<Piece> piece = addedZeros(builder, op, range)) {
      results.front().pieces.push_back(*piece);
      continue;
    }
    SmallVector<Value> inits;
    for (auto [init, result] : llvm::zip_equal(op.getDpsInits(), results))
      inits.push_back(sliceRows(builder, op.getLoc(), init, result.dim,
                                range.begin, range.size, range.drops()));
    linalg::GenericOp part = emit(builder, op, range, inits);
    for (auto [value, result] : llvm::zip_equal(part->getResults(), results)) {
      Value piece = range.drops()
                        ? insertUnitDim(builder, op.getLoc(), value, result.dim)
                        : Value(value);
      result.pieces.push_back({range.begin, range.size, piece});
    }
  }
  for (auto [result, stack] : llvm::zip_equal(op->getResults(), results)) {
    SmallVector<Value> pieces;
    for (const Piece &piece : stack.pieces)
      pieces.push_back(
          pieceValue(builder, op.getLoc(), result.getType(), stack.dim, piece));
    Value whole = tensor::ConcatOp::create(builder, op.getLoc(),
                                           result.getType(), stack.dim, pieces);
    result.replaceAllUsesWith(whole);
    stacks.set(whole, std::move(stack));
  }
}

/// Each piece goes on from the result of the one before it.
void Splitter::splitReduction(linalg::GenericOp op, unsigned loop,
                              ArrayRef<Rows> allRows) {
  OpBuilder builder(op);
  SmallVector<Value> results(op.getDpsInits());
  for (const Rows &rows : allRows) {
    LoopRange range{loop, rows.begin, rows.size};
    llvm::copy(emit(builder, op, range, results)->getResults(),
               results.begin());
  }
  op->replaceAllUsesWith(results);
}

/// Splits \p op by the pieces of the stacks that it reads; false if it stays.
bool Splitter::split(linalg::GenericOp op) {
  auto loop = rowLoops.find(op);
  if (loop == rowLoops.end() ||
      llvm::any_of(op->getResults(),
                   [&](Value result) { return wholes.contains(result); }))
    return false;
  bool isMap = isParallel(op, loop->second);
  std::optional<SmallVector<Rows, 2>> allRows;
  for (OpOperand *input : op.getDpsInputOperands()) {
    const Stack *stack = stacks.find(input->get());
    if (!stack ||
        dimOfLoop(op.getMatchingIndexingMap(input), loop->second) != stack->dim)
      continue;
    // One kernel reads a stack that stands in memory anyway.
    if (!isMap && wholes.contains(input->get()))
      return false;
    Layout layout = layoutOf(*stack);
    allRows =
        allRows ? joined(*allRows, layout.rows, isAddition(op)) : layout.rows;
    if (!allRows)
      return false;
  }
  if (!allRows || allRows->size() < 2)
    return false;
  if (isMap)
    splitParallel(op, loop->second, *allRows);
  else
    splitReduction(op, loop->second, *allRows);
  op.erase();
  return true;
}

int64_t Splitter::run() {
  findLayouts();
  findWholeReaders();
  stacks.clear();
  int64_t changes = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && split(generic)) {
      ++changes;
      continue;
    }
    stacks.read(op);
  }
  stacks.clear();
  if (changes)
    eraseUnreadOps(block);
  return changes;
}

int64_t ckpt::splitStacks(Block &block) { return Splitter(block).run(); }
