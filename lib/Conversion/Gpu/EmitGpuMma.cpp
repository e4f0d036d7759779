//===- EmitGpuMma.cpp - Narrow contractions on tensor cores ---------------===//
//
// bf16 and f16: a block makes a square of results, each of its eight warps a
// part of it from squares of 16 x 16 elements. The steps are multiplied in
// order, 16 at a time; the device's order of these 16 products is unknown.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuAccumulators.h"
#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Gpu/SharedMemoryStaging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace ckpt;
using namespace mlir;

static constexpr int64_t warpThreads = 32;
/// Warps of a block, in rows and columns of results.
static constexpr int64_t warpRows = 2, warpColumns = 4;
static_assert(warpRows * warpColumns * warpThreads == threadsPerBlock);
/// Rows, columns and steps of one instruction.
static constexpr int64_t rowsAtOnce = 16, columnsAtOnce = 8, stepsAtOnce = 16;
/// Steps of a part in shared memory, and parts that stand there.
static constexpr int64_t partSteps = 32, parts = 3;
/// Elements that `ldmatrix` takes from a row.
static constexpr int64_t width = 8;
/// Neighbouring results in a thread's registers.
static constexpr int64_t sumWidth = 2;
namespace {
/// Places of the squares of one operand that a warp multiplies: by step, then
/// by row or pair of columns.
using Squares = SmallVector<SmallVector<std::pair<Value, Value>>>;

class TensorCoreEmitter {
public:
  TensorCoreEmitter(KernelCode &code, const ContractionShape &shape,
                    GpuThread &thread)
      : shape(shape), side(tensorCoreSide(shape)), thread(thread),
        builder(thread.getBuilder()), emitter(thread.elements(/*lanes=*/1)),
        index(emitter.indices()),
        operands(code, shape, thread, emitter,
                 {side, partSteps, parts, /*outerColumns=*/side,
                  threadsPerBlock, /*readsByProxy=*/false}),
        rowTiles(side / warpRows / rowsAtOnce),
        columnTiles(side / warpColumns / columnsAtOnce),
        element(getElementTypeOrSelf(shape.left.tensor.getType())),
        sums(code, shape, thread, rowTiles * columnTiles * 2, sumWidth) {}

  FailureOr<LaunchSize> emit();

private:
  void enterBlock();
  Squares placeSquares(const StagedOperand &operand);
  std::pair<LinearIndex, LinearIndex> squareAt(const StagedOperand &operand,
                                               int64_t step, int64_t outer);
  SmallVector<Value> loadSquare(bool isRight, int64_t step, int64_t outer,
                                Value part);
  void multiplyStep(MutableArrayRef<Value> running, int64_t step, Value part);
  GpuAccumulators::Place place() const;

  const ContractionShape &shape;
  int64_t side;
  GpuThread &thread;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  IndexEmitter &index;
  SharedMemoryStaging operands;
  /// Squares of results of a warp.
  int64_t rowTiles, columnTiles;
  Type element;
  GpuAccumulators sums;

  Corner corner;
  LinearIndex warpRow, warpColumn;
  /// Number of the thread in its warp.
  LinearIndex inWarp;
  Squares leftSquares, rightSquares;
};
} // namespace

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// Row and chunk of eight elements that this thread names of four squares: 16
/// rows of the left operand, or 16 columns of the right one, by 16 steps.
std::pair<LinearIndex, LinearIndex>
TensorCoreEmitter::squareAt(const StagedOperand &operand, int64_t step,
                            int64_t outer) {
  auto [high, low] = divideIndex(inWarp, 16, index);
  auto [middle, eighth] = divideIndex(low, 8, index);
  LinearIndex outerAt = (operand.isRight ? warpColumn : warpRow) + outer * 16;
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

Squares TensorCoreEmitter::placeSquares(const StagedOperand &operand) {
  Squares squares;
  int64_t outers = operand.isRight ? columnTiles / 2 : rowTiles;
  for (int64_t step = 0; step < partSteps / stepsAtOnce; ++step) {
    squares.emplace_back();
    for (int64_t outer = 0; outer < outers; ++outer) {
      auto [row, chunk] = squareAt(operand, step, outer);
      squares.back().emplace_back(
          index.materialize(row),
          operands.swizzled(row, chunk, operand, index));
    }
  }
  return squares;
}

void TensorCoreEmitter::enterBlock() {
  corner = thread.corner(squaresOf(shape, side), index);
  LinearIndex inBlock = index.atom(thread.thread(), threadsPerBlock);
  SmallVector<LinearIndex> inside =
      delinearize(inBlock, {warpRows, warpColumns, warpThreads}, index);
  warpRow = inside[0] * (side / warpRows);
  warpColumn = inside[1] * (side / warpColumns);
  inWarp = inside[2];
  operands.enter(corner, inBlock, [&](ArrayRef<int64_t> extents) {
    return thread.shared(extents, element);
  });
  leftSquares = placeSquares(operands.operand(/*isRight=*/false));
  rightSquares = placeSquares(operands.operand(/*isRight=*/true));
}

/// Place of a pair of sums: thread t of a warp has two neighbours in row t / 4,
/// and in row t / 4 + 8, of every square.
GpuAccumulators::Place TensorCoreEmitter::place() const {
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
// Sums
//===----------------------------------------------------------------------===//

/// Four registers of pairs, as the instruction takes them.
SmallVector<Value> TensorCoreEmitter::loadSquare(bool isRight, int64_t step,
                                                 int64_t outer, Value part) {
  const StagedOperand &operand = operands.operand(isRight);
  auto [row, column] = (isRight ? rightSquares : leftSquares)[step][outer];
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

/// Adds 16 steps to four sums of every square.
void TensorCoreEmitter::multiplyStep(MutableArrayRef<Value> running,
                                     int64_t step, Value part) {
  auto type = element.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  Type four = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
  SmallVector<SmallVector<Value>> lefts;
  for (int64_t row = 0; row < rowTiles; ++row)
    lefts.push_back(loadSquare(/*isRight=*/false, step, row, part));
  for (int64_t pair = 0; pair < columnTiles / 2; ++pair) {
    SmallVector<Value> both = loadSquare(/*isRight=*/true, step, pair, part);
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

FailureOr<LaunchSize> TensorCoreEmitter::emit() {
  LaunchSize size{squaresOf(shape, side).blocks()};
  enterBlock();
  auto multiply = [&](ValueRange running, Value part) {
    SmallVector<Value> next(running);
    for (int64_t step = 0; step < partSteps / stepsAtOnce; ++step)
      multiplyStep(next, step, part);
    return next;
  };
  auto add = [&](SmallVector<Value> inits) {
    return sums.join(operands.addParts(sums.split(inits), multiply));
  };
  if (failed(sums.emit(emitter, corner.batch, place(), add)))
    return failure();
  return size;
}

FailureOr<LaunchSize> ckpt::emitGpuMma(KernelCode &code,
                                       const ContractionShape &shape,
                                       GpuThread &thread) {
  return TensorCoreEmitter(code, shape, thread).emit();
}
