//===- EmitGpuTensorCores.cpp - Narrow contractions on tensor cores -------===//
//
// bf16 and f16: a block makes a square of results, each of its eight warps a
// part of it from squares of 16 x 16 elements. Operands come to shared memory
// by copies that run while earlier steps are multiplied; three parts of the
// steps take turns there. The steps are multiplied in order, 16 at a time; in
// which order the device adds those 16 products it does not say.
//
// Steps past the end are zeros in both operands. Operands whose elements do not
// come in aligned vectors are brought by ordinary loads, since the order must
// hang on the op alone, not on how its operands lie in memory.
//
//===----------------------------------------------------------------------===//

#include "GpuSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

static constexpr int64_t warpThreads = 32;
/// Warps of a block, in rows and columns of results.
static constexpr int64_t warpRows = 2, warpColumns = 4;
static_assert(warpRows * warpColumns * warpThreads == threadsPerBlock);
/// What one instruction multiplies.
static constexpr int64_t rowsAtOnce = 16, columnsAtOnce = 8, stepsAtOnce = 16;
/// Steps of a part in shared memory, and parts that stand there.
static constexpr int64_t partSteps = 32, parts = 3;
/// Elements of a copy.
static constexpr int64_t width = 8;
/// Neighbouring results in a thread's registers.
static constexpr int64_t sumWidth = 2;
/// Sides of a block's square of results; the smaller where the larger gives
/// too few blocks to keep a device busy.
static constexpr int64_t largeSide = 128, smallSide = 64, manyBlocks = 128;

static int64_t chooseSide(const ContractionShape &shape) {
  return squaresOf(shape, largeSide).blocks() >= manyBlocks ? largeSide
                                                            : smallSide;
}

bool ckpt::fitsTensorCores(const ContractionShape &shape) {
  Type left = getElementTypeOrSelf(shape.left.tensor.getType());
  Type right = getElementTypeOrSelf(shape.right.tensor.getType());
  return left == right && (left.isBF16() || left.isF16()) &&
         shape.rows.getExtent() > smallSide / 2 &&
         shape.columns.getExtent() > smallSide / 2;
}

namespace {
/// One operand on its way from memory to registers.
struct Operand {
  bool isRight;
  /// Whether neighbours in memory, and so in shared memory, are steps.
  bool alongSteps;
  /// First row or column of the block, and of the warp in it.
  LinearIndex firstOuter, warpOuter;
  /// `parts` times steps x outer, or outer x steps.
  Value shared;
  int64_t columns;
  /// Places of the squares that the warp multiplies: by step, then by row or
  /// pair of columns.
  SmallVector<SmallVector<std::pair<Value, Value>>> squares;
};

class TensorCoreEmitter {
public:
  TensorCoreEmitter(KernelCode &code, const ContractionShape &shape,
                    GpuThread &thread)
      : shape(shape), side(chooseSide(shape)), thread(thread),
        builder(thread.getBuilder()), emitter(thread.elements(/*lanes=*/1)),
        index(emitter.indices()), rows(shape.rows.getExtent()),
        columns(shape.columns.getExtent()), steps(shape.reduced.getExtent()),
        rowTiles(side / warpRows / rowsAtOnce),
        columnTiles(side / warpColumns / columnsAtOnce),
        element(getElementTypeOrSelf(shape.left.tensor.getType())),
        sums(code, shape, thread, rowTiles * columnTiles * 2, sumWidth) {}

  FailureOr<LaunchSize> emit();

private:
  void enterBlock();
  Operand makeOperand(bool isRight);
  std::pair<LinearIndex, LinearIndex> squareAt(const Operand &operand,
                                               int64_t step, int64_t outer);
  Value swizzled(const LinearIndex &row, const LinearIndex &chunk,
                 const Operand &operand, IndexEmitter &at);
  void copyPart(const Operand &operand, Value number, Value into);
  void copyVector(const Operand &operand, Value number, Value into,
                  int64_t first);
  void copyLater(const Operand &operand, Value flat, Value start,
                 Value isInside, ValueRange target);
  void copyNow(const Operand &operand, Value vector, Value isInside,
               ValueRange target);
  void copyAll(Value number, Value into);
  SmallVector<Value> loadSquare(const Operand &operand, int64_t step,
                                int64_t outer, Value part);
  void multiplyStep(MutableArrayRef<Value> running, int64_t step, Value part);
  SmallVector<Value> emitSteps(ValueRange running);
  GpuSums::Place place() const;

  const ContractionShape &shape;
  int64_t side;
  GpuThread &thread;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  IndexEmitter &index;
  int64_t rows, columns, steps;
  /// Squares of results of a warp.
  int64_t rowTiles, columnTiles;
  Type element;
  GpuSums sums;

  Corner corner;
  LinearIndex warpRow, warpColumn;
  /// Number of the thread in its block and in its warp.
  LinearIndex inBlock, inWarp;
  Operand left, right;
};
} // namespace

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// Row and chunk of eight elements that this thread names of four squares: 16
/// rows of the left operand, or 16 columns of the right one, by 16 steps.
std::pair<LinearIndex, LinearIndex>
TensorCoreEmitter::squareAt(const Operand &operand, int64_t step,
                            int64_t outer) {
  auto [high, low] = divideIndex(inWarp, 16, index);
  auto [middle, eighth] = divideIndex(low, 8, index);
  LinearIndex outerAt = operand.warpOuter + outer * 16;
  LinearIndex stepAt = step * stepsAtOnce;
  // The four squares in the order of the registers: the left operand's lower
  // rows come before its later steps, the right one's later steps first.
  bool lowFirst = operand.isRight != operand.alongSteps;
  LinearIndex rowAt = operand.alongSteps ? outerAt : stepAt;
  LinearIndex chunkAt = operand.alongSteps ? stepAt : outerAt;
  rowAt = rowAt + eighth + (lowFirst ? middle : high) * 8;
  chunkAt =
      divideIndex(chunkAt, width, index).first + (lowFirst ? high : middle);
  return {rowAt, chunkAt};
}

/// Eight rows next to each other start in different banks.
Value TensorCoreEmitter::swizzled(const LinearIndex &row,
                                  const LinearIndex &chunk,
                                  const Operand &operand, IndexEmitter &at) {
  int64_t chunks = std::min<int64_t>(operand.columns / width, 8);
  LinearIndex line = divideIndex(row, 8 / chunks, at).first;
  LinearIndex turn = divideIndex(line, chunks, at).second;
  Value moved = arith::XOrIOp::create(builder, at.materialize(chunk),
                                      at.materialize(turn));
  return arith::MulIOp::create(builder, moved, thread.constant(width));
}

Operand TensorCoreEmitter::makeOperand(bool isRight) {
  Operand operand;
  operand.isRight = isRight;
  operand.alongSteps =
      shape.reduced.isContiguous(isRight) &&
      !(isRight ? shape.columns : shape.rows).isContiguous(isRight);
  operand.firstOuter = isRight ? corner.column : corner.row;
  operand.warpOuter = isRight ? warpColumn : warpRow;
  operand.columns = operand.alongSteps ? partSteps : side;
  int64_t lines = operand.alongSteps ? side : partSteps;
  operand.shared = thread.shared({parts, lines, operand.columns}, element);
  int64_t outers = isRight ? columnTiles / 2 : rowTiles;
  for (int64_t step = 0; step < partSteps / stepsAtOnce; ++step) {
    operand.squares.emplace_back();
    for (int64_t outer = 0; outer < outers; ++outer) {
      auto [row, chunk] = squareAt(operand, step, outer);
      operand.squares.back().emplace_back(index.materialize(row),
                                          swizzled(row, chunk, operand, index));
    }
  }
  return operand;
}

void TensorCoreEmitter::enterBlock() {
  corner = thread.corner(squaresOf(shape, side), index);
  inBlock = index.atom(thread.thread(), threadsPerBlock);
  SmallVector<LinearIndex> inside =
      delinearize(inBlock, {warpRows, warpColumns, warpThreads}, index);
  warpRow = inside[0] * (side / warpRows);
  warpColumn = inside[1] * (side / warpColumns);
  inWarp = inside[2];
  left = makeOperand(/*isRight=*/false);
  right = makeOperand(/*isRight=*/true);
}

/// Of a pair of sums: thread t of a warp has two neighbours in row t / 4, and
/// in row t / 4 + 8, of every square.
GpuSums::Place TensorCoreEmitter::place() const {
  return [this](const LinearIndex &slot, IndexEmitter &at) {
    SmallVector<LinearIndex> tile =
        delinearize(slot, {rowTiles, columnTiles, 2}, at);
    auto [line, pair] = divideIndex(inWarp, 4, at);
    LinearIndex row =
        corner.row + warpRow + tile[0] * rowsAtOnce + tile[2] * 8 + line;
    LinearIndex column =
        corner.column + warpColumn + tile[1] * columnsAtOnce + pair * sumWidth;
    return std::make_pair(row, column);
  };
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Brings vector \p first plus the thread's number of part \p number.
void TensorCoreEmitter::copyVector(const Operand &operand, Value number,
                                   Value into, int64_t first) {
  ElementEmitter inside = emitter.nested(width);
  IndexEmitter &at = inside.indices();
  bool isRight = operand.isRight;
  auto [line, chunk] =
      divideIndex(inBlock + first, operand.columns / width, at);
  LinearIndex along = chunk * width + at.lane();
  LinearIndex step =
      at.atom(number, llvm::divideCeil(steps, partSteps)) * partSteps +
      (operand.alongSteps ? along : line);
  LinearIndex outer = operand.firstOuter + (operand.alongSteps ? line : along);
  const LoopGroup &group = isRight ? shape.columns : shape.rows;
  const StridedOperand &memory = isRight ? shape.right : shape.left;
  ClampedIndex stepAt = at.clamp(step, {0, steps});
  LinearIndex outerAt = at.clamp(outer, {0, group.getExtent()}).index;
  LinearIndex position =
      operandOffset(shape.batch, corner.batch, isRight, at) +
      operandOffset(group, outerAt, isRight, at) +
      operandOffset(shape.reduced, stepAt.index, isRight, at) + memory.offset;
  Value flat = thread.getTarget().memory.lookup(memory.tensor);
  SmallVector<Value> target = {into, at.materialize(line),
                               swizzled(line, chunk, operand, at)};
  Value start = inside.alignedStart(flat, position);
  bool isPartial = stepAt.inside && isa<VectorType>(stepAt.inside.getType());
  if (start && !isPartial)
    copyLater(operand, flat, start, stepAt.inside, target);
  else
    copyNow(operand, inside.broadcast(inside.load(flat, position)),
            stepAt.inside, target);
}

/// Begins a copy of the vector at \p start; zeros unless \p isInside.
void TensorCoreEmitter::copyLater(const Operand &operand, Value flat,
                                  Value start, Value isInside,
                                  ValueRange target) {
  Value count;
  if (isInside)
    count = arith::SelectOp::create(builder, isInside, thread.constant(width),
                                    thread.constant(0));
  nvgpu::DeviceAsyncCopyOp::create(
      builder, nvgpu::DeviceAsyncTokenType::get(builder.getContext()),
      operand.shared, target, flat, start, builder.getIndexAttr(width), count,
      builder.getUnitAttr());
}

/// The same for a vector that was loaded element by element.
void TensorCoreEmitter::copyNow(const Operand &operand, Value vector,
                                Value isInside, ValueRange target) {
  if (isInside) {
    Value zero = arith::ConstantOp::create(
        builder, builder.getZeroAttr(vector.getType()));
    vector = arith::SelectOp::create(builder, isInside, vector, zero);
  }
  vector::StoreOp::create(builder, vector, operand.shared, target,
                          /*nontemporal=*/false, llvm::Align(accessBytes));
}

void TensorCoreEmitter::copyPart(const Operand &operand, Value number,
                                 Value into) {
  for (int64_t first = 0; first < side * partSteps / width;
       first += threadsPerBlock)
    copyVector(operand, number, into, first);
}

void TensorCoreEmitter::copyAll(Value number, Value into) {
  copyPart(left, number, into);
  copyPart(right, number, into);
}

/// Four registers of pairs, as the instruction takes them.
SmallVector<Value> TensorCoreEmitter::loadSquare(const Operand &operand,
                                                 int64_t step, int64_t outer,
                                                 Value part) {
  auto [row, column] = operand.squares[step][outer];
  Value square = nvgpu::LdMatrixOp::create(
      builder, VectorType::get({4, 2}, element), operand.shared,
      ValueRange{part, row, column}, /*transpose=*/!operand.alongSteps,
      /*numTiles=*/4);
  if (element.isBF16())
    square = vector::BitCastOp::create(
        builder, VectorType::get({4, 1}, builder.getI32Type()), square);
  SmallVector<Value> registers;
  for (int64_t number = 0; number < 4; ++number) {
    SmallVector<int64_t> at = {number};
    if (element.isBF16())
      at.push_back(0);
    registers.push_back(vector::ExtractOp::create(builder, square, at));
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds 16 steps to four sums of every square.
void TensorCoreEmitter::multiplyStep(MutableArrayRef<Value> running,
                                     int64_t step, Value part) {
  auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Type four = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
  SmallVector<SmallVector<Value>> lefts;
  for (int64_t row = 0; row < rowTiles; ++row)
    lefts.push_back(loadSquare(left, step, row, part));
  for (int64_t pair = 0; pair < columnTiles / 2; ++pair) {
    SmallVector<Value> both = loadSquare(right, step, pair, part);
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t row = 0; row < rowTiles; ++row) {
        int64_t square = row * columnTiles + pair * 2 + half;
        MutableArrayRef<Value> here = running.slice(square * 4, 4);
        Value sum = NVVM::MmaOp::create(
            builder, four, lefts[row], ArrayRef(both).slice(half * 2, 2), here,
            {rowsAtOnce, columnsAtOnce, stepsAtOnce}, std::nullopt,
            std::nullopt, std::array<NVVM::MMATypes, 2>{type, type},
            std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                           NVVM::MMALayout::col});
        for (int64_t number = 0; number < 4; ++number)
          here[number] = LLVM::ExtractValueOp::create(builder, sum, number);
      }
  }
}

/// Part number p goes to place p mod 3. When a thread has passed the barrier of
/// part p, all have multiplied part p - 1, so its place is free for p + 2.
SmallVector<Value> TensorCoreEmitter::emitSteps(ValueRange running) {
  int64_t count = llvm::divideCeil(steps, partSteps);
  for (int64_t part = 0; part < parts - 1; ++part) {
    if (part < count)
      copyAll(thread.constant(part), thread.constant(part));
    NVVM::CpAsyncCommitGroupOp::create(builder);
  }
  auto loop =
      scf::ForOp::create(builder, thread.constant(0), thread.constant(count),
                         thread.constant(1), running);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value three = thread.constant(parts);
  NVVM::CpAsyncWaitGroupOp::create(builder, uint32_t(parts - 2));
  thread.barrier();
  Value next =
      arith::AddIOp::create(builder, number, thread.constant(parts - 1));
  (void)thread.ifBelow(next, count, count + 1, [&] {
    copyAll(next, arith::RemUIOp::create(builder, next, three));
    return success();
  });
  NVVM::CpAsyncCommitGroupOp::create(builder);
  Value part = arith::RemUIOp::create(builder, number, three);
  SmallVector<Value> sums(loop.getRegionIterArgs());
  for (int64_t step = 0; step < partSteps / stepsAtOnce; ++step)
    multiplyStep(sums, step, part);
  scf::YieldOp::create(builder, sums);
  return SmallVector<Value>(loop.getResults());
}

FailureOr<LaunchSize> TensorCoreEmitter::emit() {
  LaunchSize size{squaresOf(shape, side).blocks()};
  enterBlock();
  FailureOr<SmallVector<Value>> inits =
      sums.emitInits(emitter, corner.batch, place());
  if (failed(inits))
    return failure();
  SmallVector<Value> running;
  for (Value pair : *inits)
    for (int64_t number = 0; number < sumWidth; ++number)
      running.push_back(vector::ExtractOp::create(builder, pair, number));
  running = emitSteps(running);
  SmallVector<Value> pairs;
  for (size_t number = 0; number < running.size(); number += sumWidth)
    pairs.push_back(vector::FromElementsOp::create(
        builder, sums.getVectorType(),
        ArrayRef(running).slice(number, sumWidth)));
  if (failed(sums.emitResults(emitter, corner.batch, place(), pairs)))
    return failure();
  return size;
}

FailureOr<LaunchSize> ckpt::emitTensorCores(KernelCode &code,
                                            const ContractionShape &shape,
                                            GpuThread &thread) {
  return TensorCoreEmitter(code, shape, thread).emit();
}
