//===- EmitGpuContraction.cpp - Matmuls and convolutions on a GPU ---------===//
//
// Short sides, and f64: a block makes a square of 16 x 16 results, one per
// thread, from squares of both operands in shared memory (EmitGpuTiles.cpp does
// the others). Every sum is one chain of fused multiply-adds in the order of
// the reduced loops, starting at the init: the bits of the CPU.
//
//===----------------------------------------------------------------------===//

#include "ContractionShape.h"
#include "Epilogue.h"
#include "GpuKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

/// Rows, columns and steps of a square.
static constexpr int64_t side = 16;
static_assert(side * side == threadsPerBlock);

namespace {
class GpuContractionEmitter {
public:
  GpuContractionEmitter(KernelCode &code, const ContractionShape &shape,
                        GpuThread &thread)
      : code(code), op(cast<linalg::LinalgOp>(code.anchor)), shape(shape),
        thread(thread), target(thread.getTarget()),
        builder(thread.getBuilder()),
        emitter(builder, target.memory, /*lanes=*/1), index(emitter.indices()),
        rows(shape.rows.getExtent()), columns(shape.columns.getExtent()),
        steps(shape.reduced.getExtent()) {}

  FailureOr<LaunchSize> emit();

private:
  void enterBlock();
  Value emitInit();
  Value emitSteps(Value init);
  void loadSquare(bool right, Value into, Value square);
  Value multiply(Value running, Value stepsHere);
  LogicalResult emitResult(Value sum);

  KernelCode &code;
  linalg::LinalgOp op;
  const ContractionShape &shape;
  GpuThread &thread;
  TaskTarget &target;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  IndexEmitter &index;
  int64_t rows, columns, steps;

  /// Of the thread in its block: two digits.
  LinearIndex major, minor;
  Value majorValue, minorValue;
  Corner corner;
  /// The thread's own.
  Value row, column;
  SmallVector<LinearIndex> resultAt;
  Value left, right;
};
} // namespace

void GpuContractionEmitter::enterBlock() {
  corner = thread.corner(squaresOf(shape, side), index);
  std::tie(major, minor) =
      divideIndex(index.atom(thread.thread(), threadsPerBlock), side, index);
  majorValue = index.materialize(major);
  minorValue = index.materialize(minor);
  row = index.materialize(corner.row + major);
  column = index.materialize(corner.column + minor);
  // Threads past the end repeat the last result and do not store it.
  ContractionPoint point = {
      corner.batch, index.clamp(corner.row + major, {0, rows}).index,
      index.clamp(corner.column + minor, {0, columns}).index};
  resultAt = resultIndices(op, shape, point, index);
  left = thread.shared({side, side}, shape.body.sumType);
  right = thread.shared({side, side}, shape.body.sumType);
}

Value GpuContractionEmitter::emitInit() {
  Value init = emitter.emit(op.getDpsInits().front(), resultAt);
  if (init && init.getType() != shape.body.sumType)
    init = arith::ExtFOp::create(builder, shape.body.sumType, init);
  return init;
}

/// Each thread loads one element; past the end any will do, since no result
/// that is stored hangs on it.
void GpuContractionEmitter::loadSquare(bool isRight, Value into, Value square) {
  ElementEmitter inside = emitter.nested(/*lanes=*/1);
  IndexEmitter &at = inside.indices();
  const LoopGroup &group = isRight ? shape.columns : shape.rows;
  const StridedLoop &lastStep = shape.reduced.parts.back();
  // Neighbouring threads take neighbours in memory.
  bool alongSteps = (isRight ? lastStep.rightStride : lastStep.leftStride) == 1;
  const LinearIndex &step = alongSteps ? minor : major;
  const LinearIndex &outer = alongSteps ? major : minor;
  LinearIndex first = at.atom(square, llvm::divideCeil(steps, side)) * side;
  LinearIndex stepAt = at.clamp(first + step, {0, steps}).index;
  LinearIndex outerAt = at.clamp((isRight ? corner.column : corner.row) + outer,
                                 {0, group.getExtent()})
                            .index;
  const StridedOperand &operand = isRight ? shape.right : shape.left;
  LinearIndex position = operandOffset(shape.batch, corner.batch, isRight, at) +
                         operandOffset(group, outerAt, isRight, at) +
                         operandOffset(shape.reduced, stepAt, isRight, at) +
                         operand.offset;
  Value element = inside.load(target.memory.lookup(operand.tensor), position);
  if (element.getType() != shape.body.sumType)
    element = arith::ExtFOp::create(builder, shape.body.sumType, element);
  memref::StoreOp::create(
      builder, element, into,
      ValueRange{at.materialize(step), at.materialize(outer)});
}

Value GpuContractionEmitter::multiply(Value running, Value stepsHere) {
  auto loop = scf::ForOp::create(builder, thread.constant(0), stepsHere,
                                 thread.constant(1), running);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  Value fromLeft =
      memref::LoadOp::create(builder, left, ValueRange{step, majorValue});
  Value fromRight =
      memref::LoadOp::create(builder, right, ValueRange{step, minorValue});
  Value sum = math::FmaOp::create(builder, fromLeft, fromRight,
                                  loop.getRegionIterArgs().front());
  scf::YieldOp::create(builder, sum);
  return loop.getResult(0);
}

Value GpuContractionEmitter::emitSteps(Value init) {
  Value squares = thread.constant(llvm::divideCeil(steps, side));
  auto loop = scf::ForOp::create(builder, thread.constant(0), squares,
                                 thread.constant(1), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value square = loop.getInductionVar();
  loadSquare(/*isRight=*/false, left, square);
  loadSquare(/*isRight=*/true, right, square);
  thread.barrier();
  Value stepsHere = thread.constant(side);
  if (steps % side != 0) {
    Value first = arith::MulIOp::create(builder, square, stepsHere);
    Value rest = arith::SubIOp::create(builder, thread.constant(steps), first);
    stepsHere = arith::MinSIOp::create(builder, rest, stepsHere);
  }
  Value sum = multiply(loop.getRegionIterArgs().front(), stepsHere);
  thread.barrier();
  scf::YieldOp::create(builder, sum);
  return loop.getResult(0);
}

LogicalResult GpuContractionEmitter::emitResult(Value sum) {
  return thread.ifBelow(
      row, rows, llvm::alignTo(rows, side), [&]() -> LogicalResult {
        return thread.ifBelow(
            column, columns, llvm::alignTo(columns, side), [&] {
              Value result = op->getResult(0);
              Type type = getElementTypeOrSelf(result.getType());
              if (sum.getType() != type)
                sum = arith::TruncFOp::create(builder, type, sum);
              ElementEmitter inside = emitter.nested(/*lanes=*/1);
              inside.setElement(result, sum);
              return emitOutputs(code, target, inside, resultAt);
            });
      });
}

FailureOr<LaunchSize> GpuContractionEmitter::emit() {
  LaunchSize size{squaresOf(shape, side).blocks()};
  if (size.blocks == 0)
    return size;
  enterBlock();
  Value init = emitInit();
  if (!init || failed(emitResult(emitSteps(init))))
    return failure();
  return size;
}

FailureOr<LaunchSize> ckpt::emitGpuContraction(KernelCode &code,
                                               GpuThread &thread,
                                               bool useTensorCores) {
  auto op = cast<linalg::LinalgOp>(code.anchor);
  std::optional<ContractionShape> shape = matchContractionShape(code, op);
  if (!shape || shape->reduced.getExtent() == 0)
    return emitGpuReduction(code, thread);
  if (useTensorCores && fitsTensorCores(*shape))
    return emitTensorCores(code, *shape, thread);
  if (fitsGpuTiles(*shape))
    return emitGpuTiles(code, *shape, thread);
  return GpuContractionEmitter(code, *shape, thread).emit();
}
