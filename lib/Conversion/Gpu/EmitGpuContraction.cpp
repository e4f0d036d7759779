//===- EmitGpuContraction.cpp - Matmuls and convolutions on a GPU ---------===//
//
// Short sides, and f64: a block makes a square of 16 x 16 results, one per
// thread, from parts of both operands in shared memory
// (EmitGpuRegisterTiles.cpp does the others). Every sum is one chain of fused
// multiply-adds in the order of the reduced loops, starting at the init: the
// bits of the CPU.
//
// Long sums on short sides, and in f64: 16 groups of threads make a chunk each
// of the same square of 4 x 4 results, then add the chunks of all groups, in
// order.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Gpu/SharedMemoryStaging.h"
#include "Conversion/Kernel/ContractionShape.h"
#include "Conversion/Kernel/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

namespace {
/// Rows and columns of the square of a block, how many groups of threads have
/// one each for every result, and most steps of both operands that are in
/// shared memory at a time: a thread asks for its elements of all of them, then
/// waits for memory once.
struct Square {
  int64_t side, groups, stageSteps;
};
} // namespace

static constexpr Square chainSquare{16, 1, 64}, chunkSquare{4, 16, 32};
static_assert(chunkSteps % chunkSquare.stageSteps == 0);
static_assert(chainSquare.side * chainSquare.side * chainSquare.groups ==
              threadsPerBlock);
static_assert(chunkSquare.side * chunkSquare.side * chunkSquare.groups ==
              threadsPerBlock);

namespace {
class GpuContractionEmitter {
public:
  GpuContractionEmitter(KernelCode &code, const ContractionShape &shape,
                        GpuThread &thread)
      : code(code), op(cast<linalg::LinalgOp>(code.anchor)), shape(shape),
        isLong(hasLongSums(op)), square(isLong ? chunkSquare : chainSquare),
        side(square.side), groups(square.groups), thread(thread),
        target(thread.getTarget()), builder(thread.getBuilder()),
        emitter(builder, target.memory, /*lanes=*/1), index(emitter.indices()),
        rows(shape.rows.getExtent()), columns(shape.columns.getExtent()),
        steps(shape.reduced.getExtent()),
        stageSteps(
            std::min<int64_t>(square.stageSteps, llvm::alignTo(steps, side))) {}

  FailureOr<LaunchSize> emit();

private:
  void enterBlock();
  Value emitInit();
  Value emitChain(const ElementEmitter &outside, Value init,
                  const LinearIndex &first, int64_t count);
  Value emitChunks(Value init);
  Value addChunks(Value sum, Value round, Value values);
  void loadPart(ElementEmitter &inside, bool isRight, Value into,
                const LinearIndex &first);
  Value stepsFrom(const LinearIndex &first, IndexEmitter &at);
  Value multiply(Value running, Value stepsHere);
  LogicalResult emitResult(Value sum);

  KernelCode &code;
  linalg::LinalgOp op;
  const ContractionShape &shape;
  bool isLong;
  Square square;
  int64_t side, groups;
  GpuThread &thread;
  TaskTarget &target;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  IndexEmitter &index;
  int64_t rows, columns, steps, stageSteps;

  /// The place of the thread in its block: its group, and two digits inside of
  /// it.
  LinearIndex group, major, minor;
  Value groupValue, majorValue, minorValue;
  Corner corner;
  /// The thread's own.
  Value row, column;
  SmallVector<LinearIndex> resultAt;
  Value left, right;
};
} // namespace

void GpuContractionEmitter::enterBlock() {
  corner = thread.corner(squaresOf(shape, side), index);
  SmallVector<LinearIndex> digits =
      delinearize(index.atom(thread.thread(), threadsPerBlock),
                  {groups, side, side}, index);
  group = digits[0];
  major = digits[1];
  minor = digits[2];
  groupValue = index.materialize(group);
  majorValue = index.materialize(major);
  minorValue = index.materialize(minor);
  row = index.materialize(corner.row + major);
  column = index.materialize(corner.column + minor);
  // Threads past the end repeat the last result and do not store it.
  ContractionPoint point = {
      corner.batch, index.clamp(corner.row + major, {0, rows}).index,
      index.clamp(corner.column + minor, {0, columns}).index};
  resultAt = resultIndices(op, shape, point, index);
  left = thread.shared({groups, stageSteps, side}, shape.body.sumType);
  right = thread.shared({groups, stageSteps, side}, shape.body.sumType);
}

Value GpuContractionEmitter::emitInit() {
  Value init = emitter.emit(op.getDpsInits().front(), resultAt);
  if (init && init.getType() != shape.body.sumType)
    init = arith::ExtFOp::create(builder, shape.body.sumType, init);
  return init;
}

/// Brings the steps from \p first on to the group's part of \p into; past the
/// end any element will do, since no stored result depends on it.
void GpuContractionEmitter::loadPart(ElementEmitter &inside, bool isRight,
                                     Value into, const LinearIndex &first) {
  IndexEmitter &at = inside.indices();
  const LoopGroup &loops = isRight ? shape.columns : shape.rows;
  const StridedLoop &lastStep = shape.reduced.parts.back();
  const StridedOperand &operand = isRight ? shape.right : shape.left;
  // Neighbouring threads take neighbours in memory.
  bool alongSteps = (isRight ? lastStep.rightStride : lastStep.leftStride) == 1;
  for (int64_t number = 0; number < stageSteps / side; ++number) {
    auto [high, low] = divideIndex(major * side + minor + number * side * side,
                                   alongSteps ? stageSteps : side, at);
    const LinearIndex &step = alongSteps ? low : high;
    const LinearIndex &outer = alongSteps ? high : low;
    LinearIndex stepAt = at.clamp(first + step, {0, steps}).index;
    LinearIndex outerAt =
        at.clamp((isRight ? corner.column : corner.row) + outer,
                 {0, loops.getExtent()})
            .index;
    OperandPlace place =
        operandPlace(shape, isRight, {corner.batch, outerAt, stepAt}, inside);
    Value flat = target.memory.lookup(operand.tensor);
    Value element =
        inside.orZero(place.inside, inside.load(flat, place.position));
    if (element.getType() != shape.body.sumType)
      element = arith::ExtFOp::create(builder, shape.body.sumType, element);
    memref::StoreOp::create(
        builder, element, into,
        ValueRange{groupValue, at.materialize(step), at.materialize(outer)});
  }
}

Value GpuContractionEmitter::multiply(Value running, Value stepsHere) {
  auto loop = scf::ForOp::create(builder, thread.constant(0), stepsHere,
                                 thread.constant(1), running);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  Value fromLeft = memref::LoadOp::create(
      builder, left, ValueRange{groupValue, step, majorValue});
  Value fromRight = memref::LoadOp::create(
      builder, right, ValueRange{groupValue, step, minorValue});
  Value sum = math::FmaOp::create(builder, fromLeft, fromRight,
                                  loop.getRegionIterArgs().front());
  scf::YieldOp::create(builder, sum);
  return loop.getResult(0);
}

/// Number of steps from \p first on that stand in shared memory.
Value GpuContractionEmitter::stepsFrom(const LinearIndex &first,
                                       IndexEmitter &at) {
  Value most = thread.constant(stageSteps);
  if (first.max() + stageSteps <= steps)
    return most;
  Value rest = arith::SubIOp::create(builder, thread.constant(steps),
                                     at.materialize(first));
  if (first.max() > steps)
    rest = arith::MaxSIOp::create(builder, rest, thread.constant(0));
  return arith::MinSIOp::create(builder, rest, most);
}

/// Adds \p count steps from \p first on to \p init.
Value GpuContractionEmitter::emitChain(const ElementEmitter &outside,
                                       Value init, const LinearIndex &first,
                                       int64_t count) {
  int64_t stages = llvm::divideCeil(count, stageSteps);
  auto loop =
      scf::ForOp::create(builder, thread.constant(0), thread.constant(stages),
                         thread.constant(1), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter inside = outside.nested(/*lanes=*/1);
  IndexEmitter &at = inside.indices();
  LinearIndex here =
      first + at.atom(loop.getInductionVar(), stages) * stageSteps;
  loadPart(inside, /*isRight=*/false, left, here);
  loadPart(inside, /*isRight=*/true, right, here);
  thread.barrier();
  Value sum = multiply(loop.getRegionIterArgs().front(), stepsFrom(here, at));
  thread.barrier();
  scf::YieldOp::create(builder, sum);
  return loop.getResult(0);
}

/// Adds the chunks of \p round to \p sum, in every group of threads.
Value GpuContractionEmitter::addChunks(Value sum, Value round, Value values) {
  int64_t chunks = llvm::divideCeil(steps, chunkSteps);
  Value count = thread.constant(groups);
  if (chunks % groups != 0) {
    Value first = arith::MulIOp::create(builder, round, count);
    Value rest = arith::SubIOp::create(builder, thread.constant(chunks), first);
    count = arith::MinSIOp::create(builder, rest, count);
  }
  auto loop = scf::ForOp::create(builder, thread.constant(0), count,
                                 thread.constant(1), sum);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value chunk = memref::LoadOp::create(
      builder, values,
      ValueRange{loop.getInductionVar(), majorValue, minorValue});
  scf::YieldOp::create(builder,
                       Value(arith::AddFOp::create(
                           builder, loop.getRegionIterArgs().front(), chunk)));
  return loop.getResult(0);
}

/// The next round writes to \p values after barriers that all have to reach.
Value GpuContractionEmitter::emitChunks(Value init) {
  Value values = thread.shared({groups, side, side}, shape.body.sumType);
  Value zero = arith::ConstantOp::create(
      builder, builder.getFloatAttr(shape.body.sumType, 0));
  int64_t rounds = llvm::divideCeil(steps, chunkSteps * groups);
  auto loop =
      scf::ForOp::create(builder, thread.constant(0), thread.constant(rounds),
                         thread.constant(1), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar();
  ElementEmitter inside = emitter.nested(/*lanes=*/1);
  LinearIndex chunk = inside.indices().atom(round, rounds) * groups + group;
  Value part = emitChain(inside, zero, chunk * chunkSteps, chunkSteps);
  memref::StoreOp::create(builder, part, values,
                          ValueRange{groupValue, majorValue, minorValue});
  thread.barrier();
  scf::YieldOp::create(
      builder, addChunks(loop.getRegionIterArgs().front(), round, values));
  return loop.getResult(0);
}

LogicalResult GpuContractionEmitter::emitResult(Value sum) {
  auto emit = [&]() -> LogicalResult {
    Value result = op->getResult(0), value = sum;
    Type type = getElementTypeOrSelf(result.getType());
    if (value.getType() != type)
      value = arith::TruncFOp::create(builder, type, value);
    ElementEmitter inside = emitter.nested(/*lanes=*/1);
    inside.setElement(result, value);
    return emitOutputs(code, target, inside, resultAt);
  };
  return thread.ifBelow(groupValue, 1, groups, [&]() -> LogicalResult {
    return thread.ifBelow(
        row, rows, llvm::alignTo(rows, side), [&]() -> LogicalResult {
          return thread.ifBelow(column, columns, llvm::alignTo(columns, side),
                                emit);
        });
  });
}

FailureOr<LaunchSize> GpuContractionEmitter::emit() {
  LaunchSize size{squaresOf(shape, side).blocks()};
  if (size.blocks == 0)
    return size;
  enterBlock();
  Value init = emitInit();
  if (!init)
    return failure();
  Value sum = isLong ? emitChunks(init) : emitChain(emitter, init, 0, steps);
  if (failed(emitResult(sum)))
    return failure();
  return size;
}

FailureOr<LaunchSize> ckpt::emitGpuContraction(KernelCode &code,
                                               GpuThread &thread,
                                               TensorCores tensorCores) {
  auto op = cast<linalg::LinalgOp>(code.anchor);
  std::optional<ContractionShape> shape = matchContractionShape(code, op);
  if (!shape || shape->reduced.getExtent() == 0)
    return emitGpuReduction(code, thread);
  bool isLong = hasLongSums(op);
  if (!isLong && tensorCores != TensorCores::None && fitsTensorCores(*shape))
    return tensorCores == TensorCores::Wgmma
               ? emitGpuWgmma(code, *shape, thread)
               : emitGpuMma(code, *shape, thread);
  if (fitsGpuRegisterTiles(*shape, isLong))
    return emitGpuRegisterTiles(code, *shape, thread);
  return GpuContractionEmitter(code, *shape, thread).emit();
}
