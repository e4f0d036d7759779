//===- EmitReduction.cpp - Kernels around an op that reduces --------------===//
//
// The order in which elements are combined hangs on the op alone: its maps,
// shapes and types. So a reduction gives the same bits whatever is fused with
// it, on any number of threads and with any width of vectors.
//
//===----------------------------------------------------------------------===//

#include "ContractionBody.h"
#include "Epilogue.h"
#include "IterationSpace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace ckpt;
using namespace mlir;

/// Running results of a reduction along the contiguous dimension: element j
/// belongs to number j mod 16. Part of the order, not of the target.
static constexpr int64_t partialResults = 16;

namespace {

/// What is known of the reduction before any code is emitted.
struct Reduction {
  linalg::LinalgOp op;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> reducedDims;
  /// The op that combines two partial results, if they can be kept apart.
  Operation *combiner = nullptr;
  TypedAttr neutral;
  /// The reduced dimension that partial results lie along.
  unsigned partialDim = 0;
  /// Set if the body multiplies and adds.
  std::optional<ContractionBody> contraction;
};

/// Emits the reduction of one output element (or of neighbours in lanes).
class ReductionEmitter {
public:
  ReductionEmitter(const Reduction &reduction, TaskTarget &target,
                   int64_t partialLanes)
      : reduction(reduction), builder(target.builder),
        partialLanes(partialLanes) {}

  /// The results for the parallel loops \p loops; empty on errors.
  SmallVector<Value> emit(ElementEmitter &emitter, ArrayRef<LinearIndex> loops);

private:
  using Body = llvm::function_ref<SmallVector<Value>(
      ElementEmitter &, SmallVector<LinearIndex>, ValueRange)>;

  SmallVector<Value> emitInits(ElementEmitter &emitter,
                               ArrayRef<LinearIndex> loops);
  SmallVector<Value> emitLoops(ElementEmitter &emitter, ArrayRef<unsigned> dims,
                               SmallVector<LinearIndex> loops,
                               ValueRange running, Body body);
  SmallVector<Value> emitLoop(ElementEmitter &emitter, int64_t count,
                              ValueRange running,
                              llvm::function_ref<SmallVector<Value>(
                                  ElementEmitter &, LinearIndex, ValueRange)>
                                  body);
  SmallVector<Value> emitStep(ElementEmitter &emitter,
                              ArrayRef<LinearIndex> loops, ValueRange running);
  SmallVector<Value> emitPartialRow(ElementEmitter &emitter,
                                    SmallVector<LinearIndex> loops,
                                    ValueRange running);
  Value combine(Value left, Value right);
  Value combineAll(Value partials);

  const Reduction &reduction;
  ImplicitLocOpBuilder &builder;
  /// 16, or 1 where the body cannot be emitted in lanes.
  int64_t partialLanes;
};

} // namespace

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

/// The op that combines the init with something that does not hang on it.
static Operation *findCombiner(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  BlockArgument out = op.getRegionOutputArgs().front();
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBlock() ||
      !out.hasOneUse() || *out.getUsers().begin() != combiner ||
      combiner->getNumOperands() != 2 || combiner->getNumRegions() != 0)
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

static Reduction analyze(linalg::LinalgOp op) {
  Reduction reduction;
  reduction.op = op;
  reduction.extents = op.getStaticLoopRanges();
  op.getReductionDims(reduction.reducedDims);
  reduction.contraction = matchContraction(op);
  if (reduction.contraction)
    return reduction;
  std::optional<unsigned> loop = contiguousLoop(op);
  Operation *combiner = findCombiner(op);
  if (!combiner || !loop || reduction.extents[*loop] < partialResults ||
      !llvm::is_contained(reduction.reducedDims, *loop))
    return reduction;
  if (std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner)) {
    reduction.combiner = combiner;
    reduction.neutral = *neutral;
    reduction.partialDim = *loop;
  }
  return reduction;
}

//===----------------------------------------------------------------------===//
// One output element
//===----------------------------------------------------------------------===//

SmallVector<Value> ReductionEmitter::emitInits(ElementEmitter &emitter,
                                               ArrayRef<LinearIndex> loops) {
  SmallVector<Value> inits;
  linalg::LinalgOp op = reduction.op;
  for (OpOperand &operand : op.getDpsInitsMutable()) {
    Value init = emitter.emit(
        operand.get(), applyMap(op.getMatchingIndexingMap(&operand), loops,
                                emitter.indices()));
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
  return emitLoop(emitter, reduction.extents[dims.front()], running,
                  [&](ElementEmitter &inside, LinearIndex counter,
                      ValueRange running) {
                    loops[dims.front()] = counter;
                    return emitLoops(inside, dims.drop_front(), loops, running,
                                     body);
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
    Value factor = emitter.emit(
        operand->get(), applyMap(op.getMatchingIndexingMap(operand), loops,
                                 emitter.indices()));
    if (!factor)
      return {};
    factor = emitter.broadcast(factor);
    Type type = running.front().getType();
    if (factor.getType() != type)
      factor = arith::ExtFOp::create(builder, type, factor);
    factors.push_back(factor);
  }
  return {math::FmaOp::create(builder, factors[0], factors[1],
                              running.front())};
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

SmallVector<Value>
ReductionEmitter::emitPartialRow(ElementEmitter &emitter,
                                 SmallVector<LinearIndex> loops,
                                 ValueRange running) {
  unsigned dim = reduction.partialDim;
  int64_t extent = reduction.extents[dim];
  int64_t vectors = partialLanes == 1 ? 0 : extent / partialResults;
  SmallVector<Value> partials = emitLoop(
      emitter, vectors, running,
      [&](ElementEmitter &inside, LinearIndex counter, ValueRange running) {
        ElementEmitter wide = inside.nested(partialResults);
        loops[dim] = counter * partialResults + wide.indices().lane();
        return emitStep(wide, loops, running);
      });
  int64_t begin = vectors * partialResults;
  if (partials.empty())
    return {};
  return emitLoop(
      emitter, extent - begin, partials,
      [&](ElementEmitter &inside, LinearIndex counter,
          ValueRange running) -> SmallVector<Value> {
        loops[dim] = counter + begin;
        Value lane = inside.indices().materialize(
            divideIndex(loops[dim], partialResults, inside.indices()).second);
        Value partial = vector::ExtractOp::create(
            builder, running.front(), OpFoldResult(lane));
        SmallVector<Value> next = emitStep(inside, loops, partial);
        if (next.empty())
          return {};
        return {vector::InsertOp::create(builder, next.front(),
                                         running.front(), OpFoldResult(lane))};
      });
}

SmallVector<Value> ReductionEmitter::emit(ElementEmitter &emitter,
                                          ArrayRef<LinearIndex> loops) {
  SmallVector<Value> inits = emitInits(emitter, loops);
  if (inits.empty())
    return {};
  SmallVector<unsigned> dims = reduction.reducedDims;
  SmallVector<LinearIndex> all(loops);
  SmallVector<Value> results;
  if (!reduction.combiner) {
    results = emitLoops(emitter, dims, all, inits,
                        [&](ElementEmitter &inside,
                            SmallVector<LinearIndex> loops,
                            ValueRange running) {
                          return emitStep(inside, loops, running);
                        });
  } else {
    llvm::erase(dims, reduction.partialDim);
    auto type = VectorType::get(partialResults, inits.front().getType());
    Value neutral = arith::ConstantOp::create(
        builder,
        DenseElementsAttr::get(type, Attribute(reduction.neutral)));
    results = emitLoops(emitter, dims, all, neutral,
                        [&](ElementEmitter &inside,
                            SmallVector<LinearIndex> loops,
                            ValueRange running) {
                          return emitPartialRow(inside, loops, running);
                        });
    if (!results.empty())
      results = {combine(inits.front(), combineAll(results.front()))};
  }
  if (!reduction.contraction || results.empty())
    return results;
  Type type = getElementTypeOrSelf(reduction.op->getResult(0).getType());
  if (auto vector = dyn_cast<VectorType>(results.front().getType()))
    type = vector.clone(type);
  if (type != results.front().getType())
    results = {arith::TruncFOp::create(builder, type, results.front())};
  return results;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Results that differ in shape, or repeat along a loop, have no place here.
static LogicalResult checkOutputs(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps;
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  bool supported = llvm::all_equal(maps) &&
                   maps.front().isProjectedPermutation() &&
                   maps.front().getNumResults() == op.getNumParallelLoops();
  if (!supported)
    return op.emitOpError("expected all results of a reduction to be indexed "
                          "by its parallel loops, each once");
  return success();
}

LogicalResult ckpt::emitReductionKernel(KernelCode &code, int64_t lanes,
                                        SymbolTable &symbols) {
  auto op = cast<linalg::LinalgOp>(code.anchor);
  if (failed(checkOutputs(op)))
    return failure();
  Reduction reduction = analyze(op);
  bool inLanes = supportsLanes(code.function.front());
  int64_t work = workPerElement(code);
  for (unsigned dim : reduction.reducedDims)
    work *= reduction.extents[dim];
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  // Lanes go to the reduced dimension or to the outputs. Wide rows of running
  // results make use of whole cache lines.
  int64_t outputLanes = inLanes && !reduction.combiner ? lanes : 1;
  if (outputLanes > 1 && !shape.empty() && shape.back() % (4 * lanes) == 0)
    outputLanes *= 4;
  IterationSpace space(shape, outputLanes, work);
  auto emit = [&](TaskTarget &target) {
    return space.emitLoops(
        target,
        [&](ElementEmitter &emitter,
            ArrayRef<LinearIndex> at) -> LogicalResult {
          SmallVector<LinearIndex> loops(op.getNumLoops());
          for (auto [expr, index] : llvm::zip_equal(map.getResults(), at))
            loops[cast<AffineDimExpr>(expr).getPosition()] = index;
          ReductionEmitter reducer(reduction, target,
                                   inLanes ? partialResults : 1);
          SmallVector<Value> results = reducer.emit(emitter, loops);
          if (results.empty())
            return failure();
          for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
            emitter.setElement(result, value);
          return emitOutputs(code, target, emitter, at);
        });
  };
  return emitTasks(
      code,
      {space.getTasks(), ShapedType::getNumElements(shape) * work, emit},
      symbols);
}
