//===- UnrollLoops.cpp - Loops with known trip counts ---------------------===//
//
// Emission runs over the body once per iteration and folds on the way: all
// facts about an op are known when the op is reached, so no pattern driver
// visits the produced ops again.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Loops/UnrollLoops.h"
#include "Transforms/Loops/IterationNames.h"
#include "Transforms/Loops/KnownIntegers.h"
#include "Transforms/Loops/ScatterLoops.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using llvm::APInt;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;

/// Integers of one element: emission evaluates them.
static bool isCounter(Type type) {
  if (auto tensor = dyn_cast<mlir::RankedTensorType>(type))
    return tensor.getElementType().isIntOrIndex() && tensor.hasStaticShape() &&
           tensor.getNumElements() == 1;
  return type.isIntOrIndex();
}

static bool computesCounters(Operation &op) {
  return op.getNumResults() > 0 && llvm::all_of(op.getResultTypes(), isCounter);
}

/// How often a loop with these bounds runs, saturated; none if that is unknown.
static std::optional<int64_t>
tripCount(scf::ForOp loop, llvm::function_ref<Value(Value)> valueOf) {
  std::optional<APInt> lower = knownInteger(valueOf(loop.getLowerBound()));
  std::optional<APInt> upper = knownInteger(valueOf(loop.getUpperBound()));
  std::optional<APInt> step = knownInteger(valueOf(loop.getStep()));
  if (!lower || !upper || !step)
    return std::nullopt;
  auto wide = [&](const APInt &value) {
    return loop.getUnsignedCmp() ? value.zext(128) : value.sext(128);
  };
  APInt from = wide(*lower), to = wide(*upper), by = wide(*step);
  if (!by.isStrictlyPositive())
    return std::nullopt;
  if (from.sge(to))
    return 0;
  APInt count = (to - from + by - 1).udiv(by);
  return count.isIntN(62) ? count.getZExtValue() : int64_t(1) << 62;
}

/// Whether \p loop makes tensors whose shapes its counter decides, such as
/// slices that grow. A loop that stays one op needs no buffer for them.
static bool hasMovingShapes(Operation *loop) {
  return loop
      ->walk([](Operation *op) {
        // Preparation shows the value behind a cast there and back.
        bool isStatic = isa<tensor::CastOp>(op) ||
                        llvm::all_of(op->getResultTypes(), [](Type type) {
                          auto shaped = dyn_cast<mlir::ShapedType>(type);
                          return !shaped || shaped.hasStaticShape();
                        });
        return isStatic ? mlir::WalkResult::advance()
                        : mlir::WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Whether \p loop stays one op though it runs \p trips times. One that runs
/// once would gain nothing: passes behind the rewriting would dissolve it.
static bool staysRolled(scf::ForOp loop, int64_t trips) {
  bool isAsked = trips > 1 && loop->hasAttr(CkptDialect::rolledAttrName());
  return isAsked || isScatter(loop) || hasMovingShapes(loop);
}

/// Ops that unrolling \p loop produces, with the loops in it whose trip counts
/// are known already; saturated.
static int64_t opsOf(scf::ForOp loop, int64_t trips) {
  int64_t ops = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    int64_t here = !computesCounters(op);
    if (auto inner = dyn_cast<scf::ForOp>(op))
      if (auto count = tripCount(inner, [](Value value) { return value; });
          count && !staysRolled(inner, *count))
        here = opsOf(inner, *count);
    ops = llvm::SaturatingAdd<uint64_t>(ops, here) & INT64_MAX;
  }
  uint64_t all = llvm::SaturatingMultiply<uint64_t>(ops, trips);
  return std::min<uint64_t>(all, INT64_MAX);
}

namespace {

class Unroller {
public:
  Unroller(mlir::func::FuncOp function, int64_t &limit)
      : function(function), builder(function), limit(limit) {}

  /// Replaces \p loop by its iterations; false if it stays.
  bool unroll(scf::ForOp loop);

  int64_t numUnrolled = 0;

private:
  std::optional<int64_t> tripsToUnroll(scf::ForOp loop);
  void emit(Operation &op);
  void emitIterations(scf::ForOp loop, int64_t trips);
  void emitBlock(Block &block, mlir::ResultRange results);
  void emitCopy(Operation &op);
  Value constant(Type type, const APInt &value);
  Value valueOf(Value value) { return mapping.lookupOrDefault(value); }

  mlir::func::FuncOp function;
  OpBuilder builder;
  mlir::IRMapping mapping;
  IterationNames names;
  llvm::DenseMap<Attribute, Value> constants;
  llvm::SmallPtrSet<Operation *, 4> refused;
  int64_t &limit;
};

} // namespace

Value Unroller::constant(Type type, const APInt &value) {
  mlir::TypedAttr attribute;
  if (auto tensor = dyn_cast<mlir::RankedTensorType>(type))
    attribute = mlir::DenseElementsAttr::get(
        tensor, mlir::IntegerAttr::get(tensor.getElementType(), value));
  else
    attribute = mlir::IntegerAttr::get(type, value);
  Value &known = constants[attribute];
  if (!known) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(&function.front());
    known =
        mlir::arith::ConstantOp::create(atEntry, function.getLoc(), attribute);
  }
  return known;
}

std::optional<int64_t> Unroller::tripsToUnroll(scf::ForOp loop) {
  auto trips = tripCount(loop, [&](Value value) { return valueOf(value); });
  if (!trips || staysRolled(loop, *trips))
    return std::nullopt;
  int64_t ops = opsOf(loop, *trips);
  if (ops <= limit)
    return trips;
  if (refused.insert(loop).second)
    loop.emitRemark() << "expected at most " << limit
                      << " ops from unrolled loops, but got " << ops << " from "
                      << *trips
                      << " iterations; the loop stays one op ('unroll-limit')";
  return std::nullopt;
}

/// `op` with constant offsets where they are known and within bounds.
template <typename SliceOp>
static SliceOp
withStaticOffsets(OpBuilder &builder, SliceOp op, Type whole,
                  llvm::function_ref<SliceOp(ArrayRef<mlir::OpFoldResult>,
                                             ArrayRef<mlir::OpFoldResult>,
                                             ArrayRef<mlir::OpFoldResult>)>
                      create) {
  SmallVector<mlir::OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<mlir::OpFoldResult> sizes = op.getMixedSizes();
  SmallVector<mlir::OpFoldResult> strides = op.getMixedStrides();
  auto shape = cast<mlir::RankedTensorType>(whole).getShape();
  for (auto [offset, size, stride, extent] :
       llvm::zip_equal(offsets, sizes, strides, shape)) {
    std::optional<int64_t> first = mlir::getConstantIntValue(offset);
    std::optional<int64_t> count = mlir::getConstantIntValue(size);
    std::optional<int64_t> by = mlir::getConstantIntValue(stride);
    if (!first || !count || !by || *first < 0 ||
        *first + (*count - 1) * *by >= extent)
      return op;
    offset = builder.getIndexAttr(*first);
  }
  SliceOp fixed = create(offsets, sizes, strides);
  op.erase();
  return fixed;
}

static Operation *withStaticOffsets(OpBuilder &builder, Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return withStaticOffsets<tensor::ExtractSliceOp>(
        builder, extract, extract.getSourceType(),
        [&](auto offsets, auto sizes, auto strides) {
          return tensor::ExtractSliceOp::create(
              builder, op->getLoc(), extract.getType(), extract.getSource(),
              offsets, sizes, strides);
        });
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return withStaticOffsets<tensor::InsertSliceOp>(
        builder, insert, insert.getDestType(),
        [&](auto offsets, auto sizes, auto strides) {
          return tensor::InsertSliceOp::create(
              builder, op->getLoc(), insert.getSource(), insert.getDest(),
              offsets, sizes, strides);
        });
  return op;
}

void Unroller::emitCopy(Operation &op) {
  // A mapped argument of a block counts as one that the copy does not have.
  op.walk([&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      mapping.erase(argument);
  });
  Operation *copy = builder.clone(op, mapping);
  copy->setLoc(names(op.getLoc()));
  if (!computesCounters(op)) {
    --limit;
    Operation *fixed = withStaticOffsets(builder, copy);
    mapping.map(op.getResults(), fixed->getResults());
    return;
  }
  SmallVector<APInt> values;
  for (Value result : copy->getResults())
    if (std::optional<APInt> known = knownInteger(result))
      values.push_back(*known);
  if (values.size() < copy->getNumResults())
    return;
  for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
    mapping.map(result, constant(result.getType(), value));
  copy->erase();
}

void Unroller::emitBlock(Block &block, mlir::ResultRange results) {
  for (Operation &op : block.without_terminator())
    emit(op);
  for (auto [result, yielded] :
       llvm::zip_equal(results, block.getTerminator()->getOperands()))
    mapping.map(result, valueOf(yielded));
}

void Unroller::emit(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    if (std::optional<int64_t> trips = tripsToUnroll(loop))
      return emitIterations(loop, *trips);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    if (auto condition = knownInteger(valueOf(branch.getCondition()))) {
      Region &taken =
          condition->isZero() ? branch.getElseRegion() : branch.getThenRegion();
      if (!taken.empty())
        emitBlock(taken.front(), branch.getResults());
      return;
    }
  emitCopy(op);
}

void Unroller::emitIterations(scf::ForOp loop, int64_t trips) {
  ++numUnrolled;
  SmallVector<Value> carries;
  for (Value init : loop.getInits())
    carries.push_back(valueOf(init));
  APInt counter = *knownInteger(valueOf(loop.getLowerBound()));
  APInt step = *knownInteger(valueOf(loop.getStep()));
  for (int64_t i = 0; i < trips; ++i, counter += step) {
    names.enter({i, trips});
    Value induction = loop.getInductionVar();
    mapping.map(induction, constant(induction.getType(), counter));
    mapping.map(loop.getRegionIterArgs(), carries);
    for (Operation &op : loop.getBody()->without_terminator())
      emit(op);
    for (auto [carry, yielded] :
         llvm::zip_equal(carries, loop.getYieldedValues()))
      carry = valueOf(yielded);
    names.leave();
  }
  mapping.map(loop.getResults(), carries);
}

bool Unroller::unroll(scf::ForOp loop) {
  std::optional<int64_t> trips = tripsToUnroll(loop);
  if (!trips)
    return false;
  builder.setInsertionPoint(loop);
  emitIterations(loop, *trips);
  for (Value result : loop.getResults())
    result.replaceAllUsesWith(valueOf(result));
  mapping.clear();
  loop.erase();
  return true;
}

/// Whether the counter that ended the loop is needed: upstream's rewrite gives
/// that of the last iteration.
static bool returnsCounter(scf::WhileOp loop) {
  return llvm::any_of(loop.getResults(), [](Value result) {
    return result.getType().isIntOrIndex() && !result.use_empty();
  });
}

/// Makes `scf.for` of the counted `scf.while` loops.
static void liftCountedLoops(mlir::func::FuncOp function) {
  SmallVector<scf::WhileOp> loops;
  function.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
  mlir::IRRewriter rewriter(function.getContext());
  for (scf::WhileOp loop : loops) {
    if (returnsCounter(loop))
      continue;
    auto given = llvm::to_vector(loop->getDiscardableAttrs());
    rewriter.setInsertionPoint(loop);
    if (auto counted = scf::upliftWhileToForLoop(rewriter, loop);
        succeeded(counted))
      (*counted)->setDiscardableAttrs(given);
  }
}

/// Replaces each `scf.forall` that runs once by its body.
static void openSingleIterations(mlir::func::FuncOp function) {
  SmallVector<scf::ForallOp> loops;
  function.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  mlir::IRRewriter rewriter(function.getContext());
  for (scf::ForallOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    if (!hasMovingShapes(loop))
      (void)loop.promoteIfSingleIteration(rewriter);
  }
}

int64_t ckpt::unrollLoops(mlir::func::FuncOp function, int64_t &limit) {
  openSingleIterations(function);
  liftCountedLoops(function);
  SmallVector<scf::ForOp> loops;
  function.walk<mlir::WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      loops.push_back(loop);
    bool isOneOp = isa<mlir::LoopLikeOpInterface, scf::IfOp, scf::IndexSwitchOp,
                       mlir::linalg::LinalgOp>(op);
    return isOneOp ? mlir::WalkResult::skip() : mlir::WalkResult::advance();
  });
  Unroller unroller(function, limit);
  for (scf::ForOp loop : loops)
    unroller.unroll(loop);
  return unroller.numUnrolled;
}
