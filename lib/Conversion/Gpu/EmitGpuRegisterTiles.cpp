//===- EmitGpuRegisterTiles.cpp - Contractions in register tiles ----------===//
//
// A block makes a tile of many results, every thread a part of them in its
// registers. All threads of a row or column use an element that was brought to
// shared memory once, and a thread uses an element that it read from there for
// all of its rows or columns. While a thread multiplies some steps, the next
// ones are on their way to its registers. Every sum stays one chain of fused
// multiply-adds in the order of the reduced loops, starting at the init: the
// bits of the CPU.
//
// A sum is made by one thread, so few results keep a device busy only in many
// small tiles, while large tiles read less per result. A table says how long
// each tile takes, and the one that takes least is chosen.
//
// Long sums of few results: 16 groups of threads make a chunk each of the same
// tile, then add the chunks of all groups, in order.
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
#include <numeric>

using namespace ckpt;
using namespace mlir;

namespace {
/// Results of a block and of each of its threads, and how many steps of the
/// operands stand in shared memory at a time.
struct Tile {
  int64_t rows, columns, steps;
  int64_t threadRows, threadColumns;
  /// So many blocks of steps are on their way while one is multiplied: memory
  /// answers later than a small tile takes, and a large one has no registers
  /// left.
  int64_t blocksAhead;
  /// Blocks of threads whose registers should fit a multiprocessor.
  int64_t resident;
  /// Of a multiprocessor, for one step of one block among others, and of one
  /// that has no other: few warps wait for what they read.
  int64_t cycles, cyclesAlone;
  /// Groups of threads that make all results each, of different chunks.
  int64_t groups = 1;

  constexpr int64_t threadsDown() const { return rows / threadRows; }
  constexpr int64_t threadsAcross() const { return columns / threadColumns; }
  constexpr int64_t groupThreads() const {
    return threadsDown() * threadsAcross();
  }
  constexpr int64_t threads() const { return groups * groupThreads(); }
};
} // namespace

/// The cycles of 128 x 128, 64 x 128, 128 x 64 and 64 x 64 were measured with
/// such kernels in CUDA, on an H200 that was full of blocks. The others are
/// estimates: shared memory gives 32 words in a cycle, and every thread reads
/// threadRows + threadColumns of them; each of four schedulers takes an
/// instruction in a cycle; and the measured ones with as many results per
/// thread took up to a third longer than either.
static constexpr Tile tiles[] = {
    // rows, columns, steps; of a thread; ahead; resident; cycles; alone
    {128, 128, 8, 8, 8, 1, 2, 185, 185}, //
    {192, 96, 8, 12, 6, 1, 1, 220, 220}, //
    {128, 96, 8, 8, 6, 1, 2, 152, 152},  //
    {64, 128, 16, 8, 8, 1, 3, 105, 137}, //
    {128, 64, 16, 8, 8, 1, 3, 105, 137}, //
    {64, 96, 16, 4, 6, 1, 2, 85, 85},    //
    {64, 64, 16, 4, 4, 2, 2, 64, 64},    //
    {32, 64, 16, 4, 4, 2, 4, 35, 35},    //
    {32, 32, 16, 4, 4, 2, 4, 28, 28},    //
    {16, 32, 32, 2, 4, 2, 4, 16, 16},
};
/// For long sums: their 16,384 results, at most, are 128 tiles.
static constexpr Tile chunkTile = {8, 16, 8, 2, 4, 2, 1, 4, 4, 16};
static_assert(chunkSteps % (2 * chunkTile.steps) == 0);

/// The figures are those of a device with as many.
static constexpr int64_t multiprocessors = 132;

static TileGrid gridOf(const ContractionShape &shape, const Tile &tile) {
  return tilesOf(shape, tile.rows, tile.columns);
}

/// For one step of all blocks, by the multiprocessor that gets the most.
static int64_t cyclesOf(const ContractionShape &shape, const Tile &tile) {
  int64_t blocks =
      llvm::divideCeil(gridOf(shape, tile).blocks(), multiprocessors);
  return std::max(blocks * tile.cycles, tile.cyclesAlone);
}

/// The larger of two that take as long.
static const Tile &chooseTile(const ContractionShape &shape, bool isLong) {
  if (isLong)
    return chunkTile;
  return *llvm::min_element(tiles, [&](const Tile &one, const Tile &other) {
    return cyclesOf(shape, one) < cyclesOf(shape, other);
  });
}

/// Elements that a thread moves at a time.
static constexpr int64_t width = 4;
/// Threads of a warp: a square of results takes the fewest operands.
static constexpr int64_t warpRows = 4, warpColumns = 8;
/// Between rows in shared memory, so that they start in different banks.
static constexpr int64_t padding = 4;

static constexpr bool areMadeOfWarps() {
  for (const Tile &tile : tiles)
    if (tile.threadsDown() % warpRows != 0 ||
        tile.threadsAcross() % warpColumns != 0)
      return false;
  return chunkTile.threadsDown() % warpRows == 0;
}
static_assert(areMadeOfWarps());

bool ckpt::fitsGpuRegisterTiles(const ContractionShape &shape, bool isLong) {
  int64_t fewRows = isLong ? chunkTile.rows / 2 : 16;
  int64_t fewColumns = isLong ? chunkTile.columns / 2 : 16;
  return Type(shape.body.sumType).isF32() && shape.rows.getExtent() > fewRows &&
         shape.columns.getExtent() > fewColumns;
}

namespace {
/// A vector that a thread brings, in the block's part of an operand.
struct StagedVector {
  LinearIndex step, outer;
  /// Its place in shared memory: one step or all of its steps.
  SmallVector<Value> stepsAt;
  Value outerAt;
};

/// One operand on its way from memory to shared memory.
struct Staging {
  bool isRight;
  /// Rows or columns of the block.
  int64_t extent;
  /// Neighbouring rows or columns of a thread, and how many times it has as
  /// many: then neighbouring threads read neighbours from shared memory.
  int64_t neighbours, parts;
  /// Whether the vectors of a thread lie along the steps.
  bool alongSteps;
  SmallVector<StagedVector, 1> vectors;
  /// First row or column of the block.
  LinearIndex firstOuter;
  /// Two buffers of steps x extent for every group.
  Value shared;
  /// First row or column of the thread in every part of the block.
  SmallVector<Value> readsAt;

  int64_t partExtent() const { return extent / parts; }
};

class GpuTileEmitter {
public:
  GpuTileEmitter(KernelCode &code, const ContractionShape &shape,
                 GpuThread &thread)
      : shape(shape), isLong(hasLongSums(cast<linalg::LinalgOp>(code.anchor))),
        tile(chooseTile(shape, isLong)), thread(thread),
        builder(thread.getBuilder()), emitter(thread.elements(/*lanes=*/1)),
        index(emitter.indices()), steps(shape.reduced.getExtent()),
        left(cut(/*isRight=*/false)), right(cut(/*isRight=*/true)),
        sums(code, shape, thread, tile.threadRows * right.parts,
             right.neighbours) {}

  FailureOr<LaunchSize> emit();

private:
  Staging cut(bool isRight) const;
  void enterBlock();
  void stage(Staging &staging);
  StagedVector placeOf(const Staging &staging, int64_t number);
  Value fetch(const Staging &staging, const StagedVector &place, Value block);
  Value cutOff(bool isRight, Value vector, Value block,
               const LinearIndex &inBlock, IndexEmitter &at);
  void share(const Staging &staging, const StagedVector &place, Value vector,
             Value buffer);
  SmallVector<Value> readShared(const Staging &staging, Value buffer,
                                Value step);
  void fetchAll(SmallVector<Value> &running, Value block);
  void shareNext(SmallVector<Value> &running, Value buffer);
  void multiply(MutableArrayRef<Value> running, Value buffer, int64_t count);
  SmallVector<Value> emitSteps(SmallVector<Value> running, Value first,
                               int64_t count);
  SmallVector<Value> emitChunks(SmallVector<Value> totals);
  void lay(ValueRange part, Value chunks);
  SmallVector<Value> addChunks(ValueRange totals, Value chunks, Value first);
  std::pair<LinearIndex, LinearIndex> placeInTile(const LinearIndex &slot,
                                                  IndexEmitter &at) const;
  GpuAccumulators::Place place() const;

  VectorType vectorOf(int64_t elements) const {
    return VectorType::get(elements, shape.body.sumType);
  }

  const ContractionShape &shape;
  bool isLong;
  const Tile &tile;
  GpuThread &thread;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  IndexEmitter &index;
  int64_t steps;
  Staging left, right;
  GpuAccumulators sums;

  Corner corner;
  /// The group of the thread, and the thread's number in it.
  LinearIndex group, inGroup;
  /// First row and column of the thread in every part of the block.
  LinearIndex threadRow, threadColumn;
  Value groupNumber;
  /// Row and column in the tile of each of the thread's vectors of results.
  SmallVector<std::pair<Value, Value>> resultsAt;
  /// Of the two of the group.
  Value firstBuffer;
};
} // namespace

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

Staging GpuTileEmitter::cut(bool isRight) const {
  Staging staging;
  staging.isRight = isRight;
  staging.extent = isRight ? tile.columns : tile.rows;
  int64_t ofThread = isRight ? tile.threadColumns : tile.threadRows;
  staging.neighbours = std::gcd(ofThread, width);
  staging.parts = ofThread / staging.neighbours;
  return staging;
}

/// Of vector number \p number of this thread. Threads past the end bring the
/// last vector too.
StagedVector GpuTileEmitter::placeOf(const Staging &staging, int64_t number) {
  int64_t vectors = staging.extent * tile.steps / width;
  int64_t inLine = (staging.alongSteps ? tile.steps : staging.extent) / width;
  LinearIndex inAll = inGroup + number * tile.groupThreads();
  auto [quotient, remainder] =
      divideIndex(index.clamp(inAll, {0, vectors}).index, inLine, index);
  StagedVector place;
  place.step = staging.alongSteps ? remainder * width : quotient;
  place.outer = staging.alongSteps ? quotient : remainder * width;
  for (int64_t lane = 0; lane < (staging.alongSteps ? width : 1); ++lane)
    place.stepsAt.push_back(index.materialize(place.step + lane));
  place.outerAt = index.materialize(place.outer);
  return place;
}

void GpuTileEmitter::stage(Staging &staging) {
  bool isRight = staging.isRight;
  staging.firstOuter = isRight ? corner.column : corner.row;
  staging.alongSteps =
      shape.reduced.isContiguous(isRight) &&
      !(isRight ? shape.columns : shape.rows).isContiguous(isRight);
  staging.shared =
      thread.shared({2 * tile.groups, tile.steps, staging.extent + padding},
                    shape.body.sumType);
  int64_t vectors = llvm::divideCeil(staging.extent * tile.steps / width,
                                     tile.groupThreads());
  for (int64_t number = 0; number < vectors; ++number)
    staging.vectors.push_back(placeOf(staging, number));
  for (int64_t number = 0; number < staging.parts; ++number)
    staging.readsAt.push_back(index.materialize(
        (isRight ? threadColumn : threadRow) + number * staging.partExtent()));
}

void GpuTileEmitter::enterBlock() {
  corner = thread.corner(gridOf(shape, tile), index);
  std::tie(group, inGroup) = divideIndex(
      index.atom(thread.thread(), tile.threads()), tile.groupThreads(), index);
  groupNumber = index.materialize(group);
  firstBuffer = index.materialize(group * 2);
  int64_t neighbours = std::min(warpColumns, tile.threadsAcross());
  SmallVector<LinearIndex> digits =
      delinearize(inGroup,
                  {tile.threadsDown() / warpRows,
                   tile.threadsAcross() / neighbours, warpRows, neighbours},
                  index);
  threadRow = (digits[0] * warpRows + digits[2]) * left.neighbours;
  threadColumn = (digits[1] * neighbours + digits[3]) * right.neighbours;
  stage(left);
  stage(right);
  for (int64_t slot = 0; slot < sums.getSlots(); ++slot) {
    auto [row, column] = placeInTile(slot, index);
    resultsAt.emplace_back(index.materialize(row), index.materialize(column));
  }
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The vector of \p place in block number \p block of the steps, or in the
/// last. Past the end any element will do where no stored result depends on it.
Value GpuTileEmitter::fetch(const Staging &staging, const StagedVector &place,
                            Value block) {
  ElementEmitter inside = emitter.nested(width);
  IndexEmitter &at = inside.indices();
  bool isRight = staging.isRight;
  const LoopGroup &group = isRight ? shape.columns : shape.rows;
  const StridedOperand &operand = isRight ? shape.right : shape.left;
  LinearIndex inBlock = place.step;
  LinearIndex outer = staging.firstOuter + place.outer;
  (staging.alongSteps ? inBlock : outer) =
      (staging.alongSteps ? inBlock : outer) + at.lane();
  int64_t blocks = llvm::divideCeil(steps, tile.steps);
  Value known =
      arith::MinUIOp::create(builder, block, thread.constant(blocks - 1));
  LinearIndex step =
      at.clamp(at.atom(known, blocks) * tile.steps + inBlock, {0, steps}).index;
  outer = at.clamp(outer, {0, group.getExtent()}).index;
  OperandPlace source =
      operandPlace(shape, isRight, {corner.batch, outer, step}, inside);
  Value flat = thread.getTarget().memory.lookup(operand.tensor);
  Value vector = inside.orZero(
      source.inside, inside.broadcast(inside.load(flat, source.position)));
  if (vector.getType() != vectorOf(width))
    vector = arith::ExtFOp::create(builder, vectorOf(width), vector);
  return isLong && steps % chunkSteps != 0
             ? cutOff(isRight, vector, block, inBlock, at)
             : vector;
}

/// The last chunk may have fewer steps, but all groups multiply as many. Past
/// the end stand factors whose product is -0, which changes no sum; +0 makes -0
/// another zero.
Value GpuTileEmitter::cutOff(bool isRight, Value vector, Value block,
                             const LinearIndex &inBlock, IndexEmitter &at) {
  int64_t chunks =
      llvm::alignTo(llvm::divideCeil(steps, chunkSteps), tile.groups);
  int64_t blocks = chunks * chunkSteps / tile.steps + tile.blocksAhead;
  LinearIndex step = at.atom(block, blocks) * tile.steps + inBlock;
  Value isStep = at.clamp(step, {0, steps}).inside;
  Value factor = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(vectorOf(width), isRight ? 0.0f : -0.0f));
  return arith::SelectOp::create(builder, isStep, vector, factor);
}

/// Brings the \p vector of \p place to where all threads see it.
void GpuTileEmitter::share(const Staging &staging, const StagedVector &place,
                           Value vector, Value buffer) {
  if (!staging.alongSteps) {
    vector::StoreOp::create(
        builder, vector, staging.shared,
        ValueRange{buffer, place.stepsAt.front(), place.outerAt},
        /*nontemporal=*/false, llvm::Align(accessBytes));
    return;
  }
  for (auto [lane, step] : llvm::enumerate(place.stepsAt))
    memref::StoreOp::create(
        builder, vector::ExtractOp::create(builder, vector, lane),
        staging.shared, ValueRange{buffer, step, place.outerAt});
}

/// The operands of this thread for \p step: a vector of every part.
SmallVector<Value> GpuTileEmitter::readShared(const Staging &staging,
                                              Value buffer, Value step) {
  return llvm::map_to_vector(staging.readsAt, [&](Value outer) -> Value {
    return vector::LoadOp::create(
        builder, vectorOf(staging.neighbours), staging.shared,
        ValueRange{buffer, step, outer},
        /*nontemporal=*/false, llvm::Align(staging.neighbours * sizeof(float)));
  });
}

/// Adds the vectors of \p block to \p running.
void GpuTileEmitter::fetchAll(SmallVector<Value> &running, Value block) {
  for (const Staging *staging : {&left, &right})
    for (const StagedVector &place : staging->vectors)
      running.push_back(fetch(*staging, place, block));
}

/// Takes the vectors of the next block, which stand behind the sums.
void GpuTileEmitter::shareNext(SmallVector<Value> &running, Value buffer) {
  Value *first = running.begin() + sums.getSlots(), *next = first;
  for (const Staging *staging : {&left, &right})
    for (const StagedVector &place : staging->vectors)
      share(*staging, place, *next++, buffer);
  running.erase(first, next);
  thread.barrier();
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
      for (int64_t row = 0; row < left.neighbours; ++row) {
        Value factor = vector::BroadcastOp::create(
            builder, vectorOf(right.neighbours),
            vector::ExtractOp::create(builder, vector, row));
        for (Value other : fromRight) {
          *sum = math::FmaOp::create(builder, factor, other, *sum);
          ++sum;
        }
      }
  }
}

/// Adds \p count steps from block \p first on. Two buffers take turns, so one
/// barrier lies between any two accesses of different threads to the same one.
/// Behind the sums, \p running holds the vectors of the next blocks, which are
/// on their way from memory.
SmallVector<Value> GpuTileEmitter::emitSteps(SmallVector<Value> running,
                                             Value first, int64_t count) {
  int64_t full = count / tile.steps, rest = count % tile.steps;
  auto fetchFrom = [&](SmallVector<Value> &running, Value block) {
    fetchAll(running, builder.createOrFold<arith::AddIOp>(first, block));
  };
  auto bufferOf = [&](Value turn) {
    return builder.createOrFold<arith::AddIOp>(firstBuffer, turn);
  };
  for (int64_t block = 0; block < tile.blocksAhead; ++block)
    fetchFrom(running, thread.constant(block));
  auto loop =
      scf::ForOp::create(builder, thread.constant(0), thread.constant(full),
                         thread.constant(1), running);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value block = loop.getInductionVar();
    Value buffer =
        bufferOf(arith::RemUIOp::create(builder, block, thread.constant(2)));
    SmallVector<Value> inside(loop.getRegionIterArgs());
    shareNext(inside, buffer);
    fetchFrom(inside, arith::AddIOp::create(builder, block,
                                            thread.constant(tile.blocksAhead)));
    multiply(inside, buffer, tile.steps);
    scf::YieldOp::create(builder, inside);
  }
  running = SmallVector<Value>(loop.getResults());
  if (rest > 0) {
    Value buffer = bufferOf(thread.constant(full % 2));
    shareNext(running, buffer);
    multiply(running, buffer, rest);
  }
  running.truncate(sums.getSlots());
  return running;
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// All threads add all chunks, one of each group in a round. Chunks past the
/// end are made of any elements. The next round writes to \p chunks after
/// barriers that all have to reach.
SmallVector<Value> GpuTileEmitter::emitChunks(SmallVector<Value> totals) {
  Value chunks =
      thread.shared({tile.groups, tile.rows, tile.columns}, shape.body.sumType);
  Value zero = arith::ConstantOp::create(
      builder, builder.getZeroAttr(sums.getVectorType()));
  int64_t rounds = llvm::divideCeil(steps, chunkSteps * tile.groups);
  auto loop =
      scf::ForOp::create(builder, thread.constant(0), thread.constant(rounds),
                         thread.constant(1), totals);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar();
  Value firstChunk =
      arith::MulIOp::create(builder, round, thread.constant(tile.groups));
  Value chunk = arith::AddIOp::create(builder, firstChunk, groupNumber);
  Value first = arith::MulIOp::create(builder, chunk,
                                      thread.constant(chunkSteps / tile.steps));
  lay(emitSteps(SmallVector<Value>(sums.getSlots(), zero), first, chunkSteps),
      chunks);
  thread.barrier();
  scf::YieldOp::create(builder,
                       addChunks(loop.getRegionIterArgs(), chunks, firstChunk));
  return SmallVector<Value>(loop.getResults());
}

/// Brings the sums of this thread to where all threads see them.
void GpuTileEmitter::lay(ValueRange part, Value chunks) {
  for (auto [sum, at] : llvm::zip_equal(part, resultsAt))
    vector::StoreOp::create(builder, sum, chunks,
                            ValueRange{groupNumber, at.first, at.second},
                            /*nontemporal=*/false, llvm::Align(accessBytes));
}

/// Adds the chunks from \p first on to \p totals, one of each group.
SmallVector<Value> GpuTileEmitter::addChunks(ValueRange totals, Value chunks,
                                             Value first) {
  int64_t all = llvm::divideCeil(steps, chunkSteps);
  Value count = thread.constant(tile.groups);
  if (all % tile.groups != 0)
    count = arith::MinSIOp::create(
        builder, count,
        arith::SubIOp::create(builder, thread.constant(all), first));
  auto loop = scf::ForOp::create(builder, thread.constant(0), count,
                                 thread.constant(1), totals);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> added;
  for (auto [total, at] :
       llvm::zip_equal(loop.getRegionIterArgs(), resultsAt)) {
    Value chunk = vector::LoadOp::create(
        builder, sums.getVectorType(), chunks,
        ValueRange{loop.getInductionVar(), at.first, at.second},
        /*nontemporal=*/false, llvm::Align(accessBytes));
    added.push_back(arith::AddFOp::create(builder, total, chunk));
  }
  scf::YieldOp::create(builder, added);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Place of a vector of sums: by part and row, then by part of the columns.
std::pair<LinearIndex, LinearIndex>
GpuTileEmitter::placeInTile(const LinearIndex &slot, IndexEmitter &at) const {
  SmallVector<LinearIndex> digits =
      delinearize(slot, {left.parts, left.neighbours, right.parts}, at);
  return {digits[0] * left.partExtent() + threadRow + digits[1],
          digits[2] * right.partExtent() + threadColumn};
}

/// The first group has the results; those of others lie past the end.
GpuAccumulators::Place GpuTileEmitter::place() const {
  return [this](const LinearIndex &slot, IndexEmitter &at) {
    auto [row, column] = placeInTile(slot, at);
    int64_t past = llvm::alignTo(shape.rows.getExtent(), tile.rows);
    return std::make_pair(corner.row + row + group * past,
                          corner.column + column);
  };
}

FailureOr<LaunchSize> GpuTileEmitter::emit() {
  LaunchSize size{gridOf(shape, tile).blocks(), tile.threads()};
  enterBlock();
  // Left alone, `ptxas` takes a few registers more in large tiles, and spills
  // in small ones to fit more blocks. Addresses of windows may take more.
  builder.getInsertionBlock()->getParentOp()->setAttr(
      NVVM::NVVMDialect::getMinctasmAttrName(),
      builder.getI32IntegerAttr(shape.borders.empty() ? tile.resident : 1));
  auto add = [&](SmallVector<Value> inits) {
    return isLong ? emitChunks(inits)
                  : emitSteps(inits, thread.constant(0), steps);
  };
  if (failed(sums.emit(emitter, corner.batch, place(), add)))
    return failure();
  return size;
}

FailureOr<LaunchSize> ckpt::emitGpuRegisterTiles(KernelCode &code,
                                                 const ContractionShape &shape,
                                                 GpuThread &thread) {
  return GpuTileEmitter(code, shape, thread).emit();
}
