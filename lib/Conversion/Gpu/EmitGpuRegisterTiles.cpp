//===- EmitGpuRegisterTiles.cpp - Contractions in register tiles ----------===//
//
// A block makes a square of many results, every thread 4 x 4 or 8 x 8 of them.
// All threads of a row or column use an element that was brought to shared
// memory once, and a thread uses an element that it read from there four or
// eight times. While a thread multiplies some steps, the next ones are on their
// way to its registers. Every sum stays one chain of fused multiply-adds in the
// order of the reduced loops, starting at the init: the bits of the CPU.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuAccumulators.h"
#include "Conversion/Gpu/GpuEmitters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

namespace {
/// A square of results and how many steps of it stand in shared memory. Either
/// way a thread brings one vector of each operand there. So many blocks of
/// steps are on their way while one is multiplied: memory answers later than a
/// small square takes, and a large one has no registers left.
struct Tile {
  int64_t side, steps, blocksAhead;
};
} // namespace

/// Elements that a thread moves at a time.
static constexpr int64_t width = 4;
/// Threads of a block in a row and in a column.
static constexpr int64_t threadsPerSide = 16;
/// Neighbouring rows or columns of which each thread has `width`. A thread of a
/// larger tile has as many of every such part: then neighbouring threads always
/// read neighbours from shared memory.
static constexpr int64_t part = threadsPerSide * width;
/// Between rows in shared memory, so that they start in different banks.
static constexpr int64_t padding = 4;

static constexpr Tile largeTile{128, 8, 1}, smallTile{64, 16, 2};
static_assert(threadsPerSide * threadsPerSide == threadsPerBlock);
static_assert(largeTile.side * largeTile.steps == threadsPerBlock * width);
static_assert(smallTile.side * smallTile.steps == threadsPerBlock * width);

/// Blocks that are enough to keep a device busy; fewer are cut smaller.
static constexpr int64_t manyBlocks = 128;

static Tile chooseTile(const ContractionShape &shape) {
  return squaresOf(shape, largeTile.side).blocks() >= manyBlocks ? largeTile
                                                                 : smallTile;
}

bool ckpt::fitsGpuRegisterTiles(const ContractionShape &shape) {
  return Type(shape.body.sumType).isF32() &&
         shape.rows.getExtent() > smallTile.side / 2 &&
         shape.columns.getExtent() > smallTile.side / 2;
}

namespace {
/// One operand on its way from memory to shared memory.
struct Staging {
  bool isRight;
  /// Whether the vector of a thread lies along the steps, and its place in the
  /// block's part of the operand.
  bool alongSteps;
  LinearIndex step, outer;
  /// First row or column of the block.
  LinearIndex firstOuter;
  /// Two buffers of steps x side.
  Value shared;
  /// Places that the thread writes and reads: one step or all of its vector,
  /// and the first row or column of it in every part.
  SmallVector<Value> stepsAt;
  Value outerAt;
  SmallVector<Value> readsAt;
};

class GpuTileEmitter {
public:
  GpuTileEmitter(KernelCode &code, const ContractionShape &shape,
                 GpuThread &thread)
      : shape(shape), tile(chooseTile(shape)), thread(thread),
        builder(thread.getBuilder()), emitter(thread.elements(/*lanes=*/1)),
        index(emitter.indices()), rows(shape.rows.getExtent()),
        columns(shape.columns.getExtent()), steps(shape.reduced.getExtent()),
        parts(tile.side / part),
        sums(code, shape, thread, parts * width * parts, width) {}

  FailureOr<LaunchSize> emit();

private:
  void enterBlock();
  Staging stage(bool isRight);
  Value fetch(const Staging &staging, Value block);
  void share(const Staging &staging, Value vector, Value buffer);
  SmallVector<Value> readShared(const Staging &staging, Value buffer,
                                Value step);
  void multiply(MutableArrayRef<Value> running, Value buffer, int64_t count);
  SmallVector<Value> emitSteps(SmallVector<Value> running);
  GpuAccumulators::Place place() const;

  VectorType vectorType() const { return sums.getVectorType(); }

  const ContractionShape &shape;
  Tile tile;
  GpuThread &thread;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  IndexEmitter &index;
  int64_t rows, columns, steps, parts;
  GpuAccumulators sums;

  Corner corner;
  /// First row and column of the thread in every part of the block.
  LinearIndex threadRow, threadColumn;
  Staging left, right;
};
} // namespace

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

Staging GpuTileEmitter::stage(bool isRight) {
  Staging staging;
  staging.isRight = isRight;
  staging.firstOuter = isRight ? corner.column : corner.row;
  staging.alongSteps =
      shape.reduced.isContiguous(isRight) &&
      !(isRight ? shape.columns : shape.rows).isContiguous(isRight);
  LinearIndex number = index.atom(thread.thread(), threadsPerBlock);
  int64_t vectors = (staging.alongSteps ? tile.steps : tile.side) / width;
  auto [quotient, remainder] = divideIndex(number, vectors, index);
  staging.step = staging.alongSteps ? remainder * width : quotient;
  staging.outer = staging.alongSteps ? quotient : remainder * width;
  staging.shared =
      thread.shared({2, tile.steps, tile.side + padding}, shape.body.sumType);
  for (int64_t lane = 0; lane < (staging.alongSteps ? width : 1); ++lane)
    staging.stepsAt.push_back(index.materialize(staging.step + lane));
  staging.outerAt = index.materialize(staging.outer);
  for (int64_t number = 0; number < parts; ++number)
    staging.readsAt.push_back(index.materialize(
        (isRight ? threadColumn : threadRow) + number * part));
  return staging;
}

void GpuTileEmitter::enterBlock() {
  corner = thread.corner(squaresOf(shape, tile.side), index);
  auto [major, minor] = divideIndex(
      index.atom(thread.thread(), threadsPerBlock), threadsPerSide, index);
  threadRow = major * width;
  threadColumn = minor * width;
  left = stage(/*isRight=*/false);
  right = stage(/*isRight=*/true);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The vector of this thread in block number \p block of the steps. Past the
/// end any element will do, since no stored result depends on it.
Value GpuTileEmitter::fetch(const Staging &staging, Value block) {
  ElementEmitter inside = emitter.nested(width);
  IndexEmitter &at = inside.indices();
  bool isRight = staging.isRight;
  const LoopGroup &group = isRight ? shape.columns : shape.rows;
  const StridedOperand &operand = isRight ? shape.right : shape.left;
  LinearIndex step =
      at.atom(block, llvm::divideCeil(steps, tile.steps)) * tile.steps +
      staging.step;
  LinearIndex outer = staging.firstOuter + staging.outer;
  (staging.alongSteps ? step : outer) =
      (staging.alongSteps ? step : outer) + at.lane();
  step = at.clamp(step, {0, steps}).index;
  outer = at.clamp(outer, {0, group.getExtent()}).index;
  OperandPlace place =
      operandPlace(shape, isRight, {corner.batch, outer, step}, inside);
  Value flat = thread.getTarget().memory.lookup(operand.tensor);
  Value vector = inside.orZero(
      place.inside, inside.broadcast(inside.load(flat, place.position)));
  if (vector.getType() != vectorType())
    vector = arith::ExtFOp::create(builder, vectorType(), vector);
  return vector;
}

/// Brings the \p vector of this thread to where all threads see it.
void GpuTileEmitter::share(const Staging &staging, Value vector, Value buffer) {
  if (!staging.alongSteps) {
    vector::StoreOp::create(
        builder, vector, staging.shared,
        ValueRange{buffer, staging.stepsAt.front(), staging.outerAt},
        /*nontemporal=*/false, llvm::Align(accessBytes));
    return;
  }
  for (auto [lane, step] : llvm::enumerate(staging.stepsAt))
    memref::StoreOp::create(
        builder, vector::ExtractOp::create(builder, vector, lane),
        staging.shared, ValueRange{buffer, step, staging.outerAt});
}

/// The operands of this thread for \p step: a vector of every part.
SmallVector<Value> GpuTileEmitter::readShared(const Staging &staging,
                                              Value buffer, Value step) {
  return llvm::map_to_vector(staging.readsAt, [&](Value outer) -> Value {
    return vector::LoadOp::create(
        builder, vectorType(), staging.shared, ValueRange{buffer, step, outer},
        /*nontemporal=*/false, llvm::Align(accessBytes));
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds \p count steps of \p buffer to the sums, without a loop: reads of the
/// next step overlap with the multiplications of this one.
void GpuTileEmitter::multiply(MutableArrayRef<Value> running, Value buffer,
                              int64_t count) {
  for (int64_t step = 0; step < count; ++step) {
    Value at = thread.constant(step);
    SmallVector<Value> fromLeft = readShared(left, buffer, at);
    SmallVector<Value> fromRight = readShared(right, buffer, at);
    Value *sum = running.begin();
    for (Value vector : fromLeft)
      for (int64_t row = 0; row < width; ++row) {
        Value factor = vector::BroadcastOp::create(
            builder, vectorType(),
            vector::ExtractOp::create(builder, vector, row));
        for (Value other : fromRight) {
          *sum = math::FmaOp::create(builder, factor, other, *sum);
          ++sum;
        }
      }
  }
}

/// Two buffers take turns, so one barrier lies between any two accesses of
/// different threads to the same one. Behind the sums, \p running holds the
/// vectors of the next blocks, which are on their way from memory.
SmallVector<Value> GpuTileEmitter::emitSteps(SmallVector<Value> running) {
  int64_t full = steps / tile.steps, rest = steps % tile.steps;
  Value last = thread.constant(llvm::divideCeil(steps, tile.steps) - 1);
  size_t count = running.size();
  auto fetchAll = [&](SmallVector<Value> &running, Value block) {
    block = arith::MinUIOp::create(builder, block, last);
    running.push_back(fetch(left, block));
    running.push_back(fetch(right, block));
  };
  auto shareNext = [&](SmallVector<Value> &running, Value buffer) {
    share(right, running[count + 1], buffer);
    share(left, running[count], buffer);
    running.erase(running.begin() + count, running.begin() + count + 2);
    thread.barrier();
  };
  for (int64_t block = 0; block < tile.blocksAhead; ++block)
    fetchAll(running, thread.constant(block));
  auto loop =
      scf::ForOp::create(builder, thread.constant(0), thread.constant(full),
                         thread.constant(1), running);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value block = loop.getInductionVar();
    Value buffer = arith::RemUIOp::create(builder, block, thread.constant(2));
    SmallVector<Value> inside(loop.getRegionIterArgs());
    shareNext(inside, buffer);
    fetchAll(inside, arith::AddIOp::create(builder, block,
                                           thread.constant(tile.blocksAhead)));
    multiply(inside, buffer, tile.steps);
    scf::YieldOp::create(builder, inside);
  }
  running = SmallVector<Value>(loop.getResults());
  if (rest > 0) {
    Value buffer = thread.constant(full % 2);
    shareNext(running, buffer);
    multiply(running, buffer, rest);
  }
  running.truncate(count);
  return running;
}

/// Place of a vector of sums: by part and row, then by part of the columns.
GpuAccumulators::Place GpuTileEmitter::place() const {
  return [this](const LinearIndex &slot, IndexEmitter &at) {
    SmallVector<LinearIndex> digits =
        delinearize(slot, {parts, width, parts}, at);
    LinearIndex row = corner.row + digits[0] * part + threadRow + digits[1];
    LinearIndex column = corner.column + digits[2] * part + threadColumn;
    return std::make_pair(row, column);
  };
}

FailureOr<LaunchSize> GpuTileEmitter::emit() {
  LaunchSize size{squaresOf(shape, tile.side).blocks()};
  enterBlock();
  // Left alone, `ptxas` spills some of these on sm_100 to fit five blocks into
  // a multiprocessor. The larger tile may take the registers that it needs.
  if (tile.side == smallTile.side)
    builder.getInsertionBlock()->getParentOp()->setAttr(
        NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(2));
  auto add = [&](SmallVector<Value> inits) { return emitSteps(inits); };
  if (failed(sums.emit(emitter, corner.batch, place(), add)))
    return failure();
  return size;
}

FailureOr<LaunchSize> ckpt::emitGpuRegisterTiles(KernelCode &code,
                                                 const ContractionShape &shape,
                                                 GpuThread &thread) {
  return GpuTileEmitter(code, shape, thread).emit();
}
