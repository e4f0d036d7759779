//===- SharedMemoryStaging.cpp - Operands in shared memory ----------------===//

#include "Conversion/Gpu/SharedMemoryStaging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

/// Sides of a block's square of results; the smaller where the larger gives
/// too few blocks to keep a device busy.
static constexpr int64_t largeSide = 128, smallSide = 64, manyBlocks = 128;
/// Elements of a copy, and of a chunk.
static constexpr int64_t width = 8;
/// Chunks that fill all banks.
static constexpr int64_t chunksOfBanks = 8;

int64_t ckpt::tensorCoreSide(const ContractionShape &shape) {
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

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value SharedMemoryStaging::swizzled(const LinearIndex &row,
                                    const LinearIndex &chunk,
                                    const StagedOperand &operand,
                                    IndexEmitter &at) const {
  int64_t chunks = std::min(operand.columns / width, chunksOfBanks);
  LinearIndex line = divideIndex(row, chunksOfBanks / chunks, at).first;
  LinearIndex turn = divideIndex(line, chunks, at).second;
  Value moved = arith::XOrIOp::create(builder, at.materialize(chunk),
                                      at.materialize(turn));
  return arith::MulIOp::create(builder, moved, thread.constant(width));
}

/// The step inside a part, and the row or column of the block, of element
/// \p along of \p line.
std::pair<LinearIndex, LinearIndex>
SharedMemoryStaging::placeOf(const StagedOperand &operand,
                             const LinearIndex &line, const LinearIndex &along,
                             IndexEmitter &at) const {
  if (operand.alongSteps)
    return {along, line};
  auto [panel, step] = divideIndex(line, staging.steps, at);
  return {step, panel * operand.columns + along};
}

void SharedMemoryStaging::makeOperand(StagedOperand &operand, bool isRight,
                                      Allocate allocate) {
  operand.isRight = isRight;
  operand.alongSteps =
      shape.reduced.isContiguous(isRight) &&
      !(isRight ? shape.columns : shape.rows).isContiguous(isRight);
  operand.columns = operand.alongSteps ? staging.steps : staging.outerColumns;
  operand.firstOuter = isRight ? corner.column : corner.row;
  int64_t lines = staging.side * staging.steps / operand.columns;
  operand.shared = allocate({staging.parts, lines, operand.columns});
  operand.comesByBoxes = staging.readsByProxy && boxes.take(operand);
}

void SharedMemoryStaging::enter(const Corner &blockCorner,
                                const LinearIndex &threadInBlock,
                                Allocate allocate) {
  corner = blockCorner;
  inBlock = threadInBlock;
  makeOperand(left, /*isRight=*/false, allocate);
  makeOperand(right, /*isRight=*/true, allocate);
  boxes.begin(corner.batch);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

int64_t SharedMemoryStaging::count() const {
  return llvm::divideCeil(steps, staging.steps);
}

/// Whether neighbours in lines are neighbours in memory too, wherever they
/// begin.
bool SharedMemoryStaging::isLine(const StagedOperand &operand) const {
  bool isRight = operand.isRight;
  const LoopGroup &along = operand.alongSteps ? shape.reduced
                           : isRight          ? shape.columns
                                              : shape.rows;
  auto isCounted = [](const StridedLoop &part) { return part.extent > 1; };
  return along.isContiguous(isRight) &&
         llvm::count_if(along.parts, isCounted) == 1 &&
         !shape.hasBorders(isRight);
}

/// The vector that begins at element \p begin of \p flat, which lies in two
/// aligned ones. Elements past the end of memory may be any.
Value SharedMemoryStaging::readAcross(Value flat, Value begin) {
  auto memory = cast<MemRefType>(flat.getType());
  auto type = VectorType::get(width, memory.getElementType());
  Type word = builder.getI32Type();
  int64_t words = width / 2;
  int64_t last = (memory.getNumElements() - 1) / width * width;
  Value size = thread.constant(width);
  Value shift = arith::RemUIOp::create(builder, begin, size);
  Value first = arith::SubIOp::create(builder, begin, shift);
  Value second = arith::MinUIOp::create(
      builder, arith::AddIOp::create(builder, first, size),
      thread.constant(last));
  SmallVector<Value> both;
  for (Value place : {first, second}) {
    Value vector =
        vector::LoadOp::create(builder, type, flat, place,
                               /*nontemporal=*/false, llvm::Align(accessBytes));
    vector = vector::BitCastOp::create(builder, VectorType::get(words, word),
                                       vector);
    for (int64_t number = 0; number < words; ++number)
      both.push_back(vector::ExtractOp::create(builder, vector, number));
  }
  // Drops the elements in front: by words, then by half of one.
  for (int64_t drop = words / 2; drop > 0; drop /= 2) {
    Value rest =
        arith::RemUIOp::create(builder, shift, thread.constant(drop * 4));
    Value isLate = arith::CmpIOp::create(builder, arith::CmpIPredicate::uge,
                                         rest, thread.constant(drop * 2));
    for (size_t number = 0; number + drop < both.size(); ++number)
      both[number] = arith::SelectOp::create(builder, isLate,
                                             both[number + drop], both[number]);
    both.pop_back_n(drop);
  }
  Value half = arith::IndexCastOp::create(
      builder, word,
      arith::MulIOp::create(
          builder, arith::RemUIOp::create(builder, shift, thread.constant(2)),
          thread.constant(16)));
  for (int64_t number = 0; number < words; ++number)
    both[number] = LLVM::FshrOp::create(builder, word, both[number + 1],
                                        both[number], half);
  Value vector = vector::FromElementsOp::create(
      builder, VectorType::get(words, word), ArrayRef(both).take_front(words));
  return vector::BitCastOp::create(builder, type, vector);
}

/// Brings vector \p first plus the thread's number of part \p number.
void SharedMemoryStaging::copyVector(const StagedOperand &operand, Value number,
                                     Value place, int64_t first) {
  ElementEmitter inside = emitter.nested(width);
  IndexEmitter &at = inside.indices();
  bool isRight = operand.isRight;
  auto [line, chunk] =
      divideIndex(inBlock + first, operand.columns / width, at);
  const LoopGroup &group = isRight ? shape.columns : shape.rows;
  auto placeAt = [&, line = line,
                  chunk = chunk](const LinearIndex &lane) -> OperandPlace {
    auto [stepInPart, outerInBlock] =
        placeOf(operand, line, chunk * width + lane, at);
    LinearIndex step = at.atom(number, count()) * staging.steps + stepInPart;
    ClampedIndex stepAt = at.clamp(step, {0, steps});
    LinearIndex outerAt =
        at.clamp(operand.firstOuter + outerInBlock, {0, group.getExtent()})
            .index;
    auto [position, inMemory] = operandPlace(
        shape, isRight, {corner.batch, outerAt, stepAt.index}, inside);
    return {position, inside.both(stepAt.inside, inMemory)};
  };
  auto [position, isInside] = placeAt(at.lane());
  const StridedOperand &memory = isRight ? shape.right : shape.left;
  Value flat = thread.getTarget().memory.lookup(memory.tensor);
  SmallVector<Value> target = {place, at.materialize(line),
                               swizzled(line, chunk, operand, at)};
  Value start = inside.alignedStart(flat, position);
  bool isPartial = isInside && isa<VectorType>(isInside.getType());
  if (start && !isPartial) {
    copyLater(operand, flat, start, isInside, target);
    return;
  }
  Value vector =
      isLine(operand)
          ? readAcross(flat, at.materialize(at.simplify(placeAt(0).position)))
          : inside.broadcast(inside.load(flat, position));
  vector::StoreOp::create(builder, inside.orZero(isInside, vector),
                          operand.shared, target, /*nontemporal=*/false,
                          llvm::Align(accessBytes));
}

/// Begins a copy of the vector at \p start; zeros unless \p isInside.
void SharedMemoryStaging::copyLater(const StagedOperand &operand, Value flat,
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

void SharedMemoryStaging::copyAll(Value number, Value place) {
  boxes.copy(number, place);
  for (const StagedOperand *operand : {&left, &right}) {
    if (operand->comesByBoxes)
      continue;
    for (int64_t first = 0; first < staging.side * staging.steps / width;
         first += staging.threads)
      copyVector(*operand, number, place, first);
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Begins to bring part \p next, if there is one.
void SharedMemoryStaging::copyNext(Value next) {
  int64_t ahead = staging.parts - 1;
  (void)thread.ifBelow(next, count(), count() + ahead, [&] {
    copyAll(next, arith::RemUIOp::create(builder, next,
                                         thread.constant(staging.parts)));
    return success();
  });
  commit();
}

/// Later copies of this thread belong to another part.
void SharedMemoryStaging::commit() {
  if (!allByBoxes())
    NVVM::CpAsyncCommitGroupOp::create(builder);
}

/// Makes the elements brought to \p place in shared memory visible to all.
void SharedMemoryStaging::publish(Value number, Value place) {
  if (!allByBoxes()) {
    NVVM::CpAsyncWaitGroupOp::create(builder, uint32_t(staging.parts - 2));
    if (staging.readsByProxy)
      thread.fenceProxies();
    thread.barrier();
  }
  boxes.wait(number, place);
}

/// Left alone, `ptxas` unrolls some loops with `wgmma` and takes ten seconds
/// for one.
static LLVM::LoopAnnotationAttr neverUnrolled(OpBuilder &builder) {
  MLIRContext *context = builder.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/builder.getBoolAttr(true), /*count=*/{},
      /*runtimeDisable=*/{}, /*full=*/{}, /*followupUnrolled=*/{},
      /*followupRemainder=*/{}, /*followupAll=*/{});
  return LLVM::LoopAnnotationAttr::get(
      context, /*disableNonforced=*/{}, /*vectorize=*/{}, /*interleave=*/{},
      unroll, /*unrollAndJam=*/{}, /*licm=*/{}, /*distribute=*/{},
      /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{}, /*mustProgress=*/{},
      /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
      /*parallelAccesses=*/{});
}

/// Part number p goes to place p mod `parts`. Part p - 1 has been multiplied by
/// all threads that have passed a barrier: that of part p, or if they read by
/// proxy, one behind the begin of part p. Then its place is free for another.
SmallVector<Value> SharedMemoryStaging::addParts(ValueRange sums,
                                                 Multiply multiply) {
  int64_t ahead = staging.parts - 1;
  for (int64_t part = 0; part < ahead; ++part) {
    if (part < count())
      copyAll(thread.constant(part), thread.constant(part));
    commit();
  }
  if (allByBoxes())
    thread.barrier();
  auto loop =
      scf::ForOp::create(builder, thread.constant(0), thread.constant(count()),
                         thread.constant(1), sums);
  loop->setAttr("llvm.loop_annotation", neverUnrolled(builder));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value place =
      arith::RemUIOp::create(builder, number, thread.constant(staging.parts));
  Value next = arith::AddIOp::create(builder, number, thread.constant(ahead));
  publish(number, place);
  if (!staging.readsByProxy)
    copyNext(next);
  SmallVector<Value> more = multiply(loop.getRegionIterArgs(), place);
  if (staging.readsByProxy) {
    thread.barrier();
    copyNext(next);
  }
  scf::YieldOp::create(builder, more);
  return SmallVector<Value>(loop.getResults());
}
