//===- ReductionOrder.cpp - One output element of a reduction -------------===//

#include "Conversion/Kernel/ReductionOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

/// The op that combines the init with a value that does not depend on it.
static Operation *findCombiner(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  BlockArgument out = op.getRegionOutputArgs().front();
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBlock() || !out.hasOneUse() ||
      *out.getUsers().begin() != combiner || combiner->getNumOperands() != 2 ||
      combiner->getNumRegions() != 0)
    return nullptr;
  return combiner;
}

/// The loop along which neighbours of the first full operand lie in memory.
static std::optional<unsigned> contiguousLoop(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() == 0)
      continue;
    ArrayRef<int64_t> shape = op.getShape(input);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (shape[dim] == 1)
        continue;
      auto expr = dyn_cast<AffineDimExpr>(map.getResult(dim));
      return expr ? std::optional(expr.getPosition()) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Chunks are cut until so many parts can be made at a time, and none has fewer
/// than so many steps.
static constexpr int64_t manyParts = 1 << 17;
static constexpr int64_t mostChunks = 32;
static constexpr int64_t fewestSteps = 16;

static void chooseChunks(Reduction &reduction) {
  int64_t parts = reduction.partialDim ? partialResults : 1;
  int64_t steps = 1;
  for (auto [dim, extent] : llvm::enumerate(reduction.extents))
    (llvm::is_contained(reduction.reducedDims, dim) ? steps : parts) *= extent;
  if (parts == 0)
    return;
  if (reduction.partialDim)
    steps /= partialResults;
  int64_t limit =
      std::min({mostChunks, manyParts / parts, steps / fewestSteps});
  for (unsigned dim : reduction.reducedDims) {
    int64_t unit = reduction.partialDim == dim ? partialResults : 1;
    int64_t chunks = mostChunks;
    while (chunks > 1 &&
           (chunks > limit || reduction.extents[dim] % (chunks * unit) != 0))
      chunks /= 2;
    if (chunks > reduction.chunks) {
      reduction.chunks = chunks;
      reduction.chunkDim = dim;
    }
  }
}

/// The number that leaves every index as it is; upstream knows those of
/// integers with a width.
static std::optional<int64_t> neutralIndex(Operation *combiner) {
  using Number = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Number>(combiner)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [](auto) { return 0; })
      .Case<arith::AndIOp, arith::MinUIOp>([](auto) { return -1; })
      .Case([](arith::MulIOp) { return 1; })
      .Case([](arith::MaxSIOp) { return std::numeric_limits<int64_t>::min(); })
      .Case([](arith::MinSIOp) { return std::numeric_limits<int64_t>::max(); })
      .Default([](Operation *) { return Number(); });
}

static std::optional<TypedAttr> neutralOf(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  if (type.isIndex()) {
    std::optional<int64_t> number = neutralIndex(combiner);
    return number ? std::optional<TypedAttr>(IntegerAttr::get(type, *number))
                  : std::nullopt;
  }
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  bool isMaximum = isa<arith::MaximumFOp>(combiner);
  if (!neutral || (!isMaximum && !isa<arith::MinimumFOp>(combiner)))
    return neutral;
  // Some types have NaN where others have infinities.
  APFloat value = cast<FloatAttr>(*neutral).getValue();
  if (value.isNaN())
    value = APFloat::getLargest(value.getSemantics(), /*Negative=*/isMaximum);
  return FloatAttr::get(type, value);
}

Reduction ckpt::analyzeReduction(linalg::LinalgOp op) {
  Reduction reduction;
  reduction.op = op;
  reduction.extents = op.getStaticLoopRanges();
  op.getReductionDims(reduction.reducedDims);
  reduction.contraction = matchContraction(op);
  Operation *combiner = findCombiner(op);
  if (reduction.contraction || !combiner)
    return reduction;
  std::optional<TypedAttr> neutral = neutralOf(combiner);
  if (!neutral)
    return reduction;
  reduction.combiner = combiner;
  reduction.neutral = *neutral;
  std::optional<unsigned> loop = contiguousLoop(op);
  if (loop && reduction.extents[*loop] >= partialResults &&
      llvm::is_contained(reduction.reducedDims, *loop))
    reduction.partialDim = loop;
  chooseChunks(reduction);
  return reduction;
}

SmallVector<LinearIndex> ckpt::parallelLoops(linalg::LinalgOp op,
                                             ArrayRef<LinearIndex> at) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<LinearIndex> loops(op.getNumLoops());
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), at))
    loops[cast<AffineDimExpr>(expr).getPosition()] = index;
  return loops;
}

//===----------------------------------------------------------------------===//
// One output element
//===----------------------------------------------------------------------===//

SmallVector<Value> ReductionEmitter::emitInits(ElementEmitter &emitter,
                                               ArrayRef<LinearIndex> loops) {
  SmallVector<Value> inits;
  linalg::LinalgOp op = reduction.op;
  for (OpOperand &operand : op.getDpsInitsMutable()) {
    Value init = emitter.emitOperand(operand, loops);
    if (!init)
      return {};
    if (reduction.contraction &&
        init.getType() != reduction.contraction->sumType &&
        getElementTypeOrSelf(init) != reduction.contraction->sumType) {
      Type type = reduction.contraction->sumType;
      if (auto vector = dyn_cast<VectorType>(init.getType()))
        type = vector.clone(type);
      init = arith::ExtFOp::create(builder, type, init);
    }
    inits.push_back(emitter.broadcast(init));
  }
  return inits;
}

SmallVector<Value> ReductionEmitter::emitLoop(
    ElementEmitter &emitter, int64_t count, ValueRange running,
    llvm::function_ref<SmallVector<Value>(ElementEmitter &, LinearIndex,
                                          ValueRange)>
        body) {
  if (count == 0)
    return SmallVector<Value>(running);
  if (count == 1)
    return body(emitter, 0, running);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value end = arith::ConstantIndexOp::create(builder, count);
  auto loop = scf::ForOp::create(builder, zero, end, one, running);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter inside = emitter.nested(emitter.indices().getLanes());
  LinearIndex counter = inside.indices().atom(loop.getInductionVar(), count);
  SmallVector<Value> next = body(inside, counter, loop.getRegionIterArgs());
  if (next.empty())
    return {};
  scf::YieldOp::create(builder, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> ReductionEmitter::emitLoops(ElementEmitter &emitter,
                                               ArrayRef<unsigned> dims,
                                               SmallVector<LinearIndex> loops,
                                               ValueRange running, Body body) {
  if (dims.empty())
    return body(emitter, loops, running);
  return emitLoop(
      emitter, extentOf(dims.front()), running,
      [&](ElementEmitter &inside, LinearIndex counter, ValueRange running) {
        loops[dims.front()] = firstOf(dims.front()) + counter;
        return emitLoops(inside, dims.drop_front(), loops, running, body);
      });
}

SmallVector<Value> ReductionEmitter::emitStep(ElementEmitter &emitter,
                                              ArrayRef<LinearIndex> loops,
                                              ValueRange running) {
  linalg::LinalgOp op = reduction.op;
  if (!reduction.contraction) {
    SmallVector<Value> next =
        emitter.emitBody(op, loops, SmallVector<Value>(running));
    for (Value &value : next)
      value = emitter.broadcast(value);
    return next;
  }
  SmallVector<Value> factors;
  for (OpOperand *operand :
       {reduction.contraction->left, reduction.contraction->right}) {
    Value factor = emitter.emitOperand(*operand, loops);
    if (!factor)
      return {};
    factor = emitter.broadcast(factor);
    Type type = running.front().getType();
    if (factor.getType() != type)
      factor = arith::ExtFOp::create(builder, type, factor);
    factors.push_back(factor);
  }
  return {
      math::FmaOp::create(builder, factors[0], factors[1], running.front())};
}

//===----------------------------------------------------------------------===//
// Partial results
//===----------------------------------------------------------------------===//

Value ReductionEmitter::combine(Value left, Value right) {
  IRMapping mapping;
  mapping.map(reduction.combiner->getOperand(0), left);
  mapping.map(reduction.combiner->getOperand(1), right);
  Operation *clone = builder.clone(*reduction.combiner, mapping);
  if (auto fastMath = dyn_cast<arith::ArithFastMathInterface>(clone))
    clone->setAttr(fastMath.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(clone->getContext(),
                                                 arith::FastMathFlags::none));
  clone->getResult(0).setType(left.getType());
  return clone->getResult(0);
}

Value ReductionEmitter::combineAll(Value partials) {
  for (int64_t half = partialResults / 2; half >= 1; half /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(
        builder, partials, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{half},
        ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(
        builder, partials, ArrayRef<int64_t>{half}, ArrayRef<int64_t>{half},
        ArrayRef<int64_t>{1});
    partials = combine(low, high);
  }
  return vector::ExtractOp::create(builder, partials, int64_t(0));
}

Value ReductionEmitter::neutral() {
  return arith::ConstantOp::create(builder, reduction.neutral);
}

int64_t ReductionEmitter::extentOf(unsigned dim) const {
  int64_t extent = reduction.extents[dim];
  return dim == reduction.chunkDim ? extent / reduction.chunks : extent;
}

LinearIndex ReductionEmitter::firstOf(unsigned dim) const {
  return dim == reduction.chunkDim ? chunk * extentOf(dim) : LinearIndex(0);
}

SmallVector<Value>
ReductionEmitter::emitPartialRow(ElementEmitter &emitter,
                                 SmallVector<LinearIndex> loops,
                                 ValueRange running) {
  unsigned dim = *reduction.partialDim;
  int64_t extent = extentOf(dim);
  int64_t vectors = partialLanes == 1 ? 0 : extent / partialResults;
  SmallVector<Value> partials = emitLoop(
      emitter, vectors, running,
      [&](ElementEmitter &inside, LinearIndex counter, ValueRange running) {
        ElementEmitter wide = inside.nested(partialResults);
        loops[dim] =
            firstOf(dim) + counter * partialResults + wide.indices().lane();
        return emitStep(wide, loops, running);
      });
  int64_t begin = vectors * partialResults;
  if (partials.empty())
    return {};
  return emitLoop(
      emitter, extent - begin, partials,
      [&](ElementEmitter &inside, LinearIndex counter,
          ValueRange running) -> SmallVector<Value> {
        loops[dim] = firstOf(dim) + counter + begin;
        Value lane = inside.indices().materialize(
            divideIndex(loops[dim], partialResults, inside.indices()).second);
        Value partial = vector::ExtractOp::create(builder, running.front(),
                                                  OpFoldResult(lane));
        SmallVector<Value> next = emitStep(inside, loops, partial);
        if (next.empty())
          return {};
        return {vector::InsertOp::create(builder, next.front(), running.front(),
                                         OpFoldResult(lane))};
      });
}

Value ReductionEmitter::emitPartial(ElementEmitter &emitter,
                                    ArrayRef<LinearIndex> loops,
                                    Value partial) {
  unsigned dim = *reduction.partialDim;
  int64_t extent = extentOf(dim);
  SmallVector<unsigned> dims = reduction.reducedDims;
  llvm::erase(dims, dim);
  auto emitRow = [&](ElementEmitter &inRow, SmallVector<LinearIndex> loops,
                     ValueRange running) -> SmallVector<Value> {
    auto step = [&](ElementEmitter &inside, const LinearIndex &first,
                    ValueRange running) {
      loops[dim] =
          firstOf(dim) + first + inside.indices().atom(partial, partialResults);
      return emitStep(inside, loops, running);
    };
    SmallVector<Value> full = emitLoop(
        inRow, extent / partialResults, running,
        [&](ElementEmitter &inside, LinearIndex counter, ValueRange running) {
          return step(inside, counter * partialResults, running);
        });
    int64_t rest = extent % partialResults;
    if (full.empty() || rest == 0)
      return full;
    Value end = arith::ConstantIndexOp::create(builder, rest);
    Value isInside =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, partial, end);
    auto choice = scf::IfOp::create(builder, full.front().getType(), isInside,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, full);
    builder.setInsertionPointToStart(choice.thenBlock());
    ElementEmitter inside = inRow.nested(1);
    SmallVector<Value> last = step(inside, extent - rest, full);
    if (last.empty())
      return {};
    scf::YieldOp::create(builder, last);
    return {choice.getResult(0)};
  };
  SmallVector<Value> results = emitLoops(
      emitter, dims, SmallVector<LinearIndex>(loops), neutral(), emitRow);
  return results.empty() ? Value() : results.front();
}

Value ReductionEmitter::combineWithInit(ElementEmitter &emitter,
                                        ArrayRef<LinearIndex> loops,
                                        Value sum) {
  SmallVector<Value> inits = emitInits(emitter, loops);
  return inits.empty() ? Value() : combine(inits.front(), sum);
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// One chain over all steps of a chunk.
SmallVector<Value> ReductionEmitter::emitChain(ElementEmitter &emitter,
                                               ArrayRef<LinearIndex> loops,
                                               ValueRange running) {
  return emitLoops(
      emitter, reduction.reducedDims, SmallVector<LinearIndex>(loops), running,
      [&](ElementEmitter &inside, SmallVector<LinearIndex> loops,
          ValueRange running) { return emitStep(inside, loops, running); });
}

/// The sum of a contraction: its steps are one counter, which is cut.
SmallVector<Value> ReductionEmitter::emitLongSum(ElementEmitter &emitter,
                                                 ArrayRef<LinearIndex> loops,
                                                 Value init) {
  SmallVector<int64_t> extents;
  int64_t steps = 1;
  for (unsigned dim : reduction.reducedDims) {
    extents.push_back(reduction.extents[dim]);
    steps *= extents.back();
  }
  Value zero = arith::ConstantOp::create(
      builder, builder.getFloatAttr(reduction.contraction->sumType, 0));
  auto addChunk = [&](ElementEmitter &inChunk, const LinearIndex &first,
                      int64_t count, Value sum) -> SmallVector<Value> {
    SmallVector<Value> part = emitLoop(
        inChunk, count, inChunk.broadcast(zero),
        [&](ElementEmitter &inside, LinearIndex counter, ValueRange running) {
          SmallVector<LinearIndex> at(loops);
          for (auto [dim, digit] : llvm::zip_equal(
                   reduction.reducedDims,
                   delinearize(first + counter, extents, inside.indices())))
            at[dim] = digit;
          return emitStep(inside, at, running);
        });
    if (part.empty())
      return {};
    return {arith::AddFOp::create(builder, sum, part.front())};
  };
  int64_t full = steps / chunkSteps, rest = steps % chunkSteps;
  SmallVector<Value> sum = emitLoop(
      emitter, full, init,
      [&](ElementEmitter &inside, LinearIndex counter, ValueRange running) {
        return addChunk(inside, counter * chunkSteps, chunkSteps,
                        running.front());
      });
  if (sum.empty() || rest == 0)
    return sum;
  return addChunk(emitter, full * chunkSteps, rest, sum.front());
}

SmallVector<Value> ReductionEmitter::emitChunk(ElementEmitter &emitter,
                                               ArrayRef<LinearIndex> loops) {
  if (!reduction.partialDim)
    return emitChain(emitter, loops, emitter.broadcast(neutral()));
  SmallVector<unsigned> dims = reduction.reducedDims;
  llvm::erase(dims, *reduction.partialDim);
  auto type = VectorType::get(partialResults, reduction.neutral.getType());
  Value running = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(type, Attribute(reduction.neutral)));
  SmallVector<Value> partials =
      emitLoops(emitter, dims, SmallVector<LinearIndex>(loops), running,
                [&](ElementEmitter &inside, SmallVector<LinearIndex> loops,
                    ValueRange running) {
                  return emitPartialRow(inside, loops, running);
                });
  if (partials.empty())
    return {};
  return {combineAll(partials.front())};
}

SmallVector<Value> ReductionEmitter::emitChunks(ElementEmitter &emitter,
                                                ArrayRef<LinearIndex> loops) {
  if (reduction.chunks == 1)
    return emitChunk(emitter, loops);
  return emitLoop(emitter, reduction.chunks, emitter.broadcast(neutral()),
                  [&](ElementEmitter &inside, LinearIndex counter,
                      ValueRange running) -> SmallVector<Value> {
                    chunk = counter;
                    SmallVector<Value> part = emitChunk(inside, loops);
                    if (part.empty())
                      return {};
                    return {combine(running.front(), part.front())};
                  });
}

Value ReductionEmitter::emitPart(ElementEmitter &emitter,
                                 ArrayRef<LinearIndex> loops,
                                 const LinearIndex &number, Value partial) {
  chunk = number;
  if (reduction.partialDim)
    return emitPartial(emitter, loops, partial);
  SmallVector<Value> results = emitChain(emitter, loops, neutral());
  return results.empty() ? Value() : results.front();
}

Value ReductionEmitter::combineChunks(int64_t count,
                                      llvm::function_ref<Value(Value)> load) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value end = arith::ConstantIndexOp::create(builder, count);
  auto loop = scf::ForOp::create(builder, zero, end, one, neutral());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value part = load(loop.getInductionVar());
  scf::YieldOp::create(builder, combine(loop.getRegionIterArg(0), part));
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

SmallVector<Value> ReductionEmitter::emit(ElementEmitter &emitter,
                                          ArrayRef<LinearIndex> loops) {
  SmallVector<Value> inits = emitInits(emitter, loops);
  if (inits.empty())
    return {};
  SmallVector<Value> results =
      reduction.isSplit() ? emitChunks(emitter, loops)
      : reduction.contraction && hasLongSums(reduction.op)
          ? emitLongSum(emitter, loops, inits.front())
          : emitChain(emitter, loops, inits);
  if (reduction.isSplit() && !results.empty())
    results = {combine(inits.front(), results.front())};
  if (!reduction.contraction || results.empty())
    return results;
  Type type = getElementTypeOrSelf(reduction.op->getResult(0).getType());
  if (auto vector = dyn_cast<VectorType>(results.front().getType()))
    type = vector.clone(type);
  if (type != results.front().getType())
    results = {arith::TruncFOp::create(builder, type, results.front())};
  return results;
}
