//===- EmitGpuTransposed.cpp - Elementwise kernels that turn operands -----===//
//
// For kernels whose neighbours in the outputs lie far apart in most operands,
// while neighbours along another dimension do not. A block computes a square of
// the outputs along that dimension, puts it into shared memory, and stores it
// along rows. Both reads and writes are then of neighbours.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuEmitters.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace ckpt;
using namespace mlir;

/// Side of a square: the threads of a warp take neighbours.
static constexpr int64_t side = 32;
/// Lines of a square that the threads of a block take at a time.
static constexpr int64_t linesAtOnce = threadsPerBlock / side;
/// Shorter dimensions leave too many threads without work.
static constexpr int64_t shortest = 8;
/// Memory for squares of all outputs.
static constexpr int64_t mostOutputs = 8;

//===----------------------------------------------------------------------===//
// The dimension to turn to
//===----------------------------------------------------------------------===//

/// Reads of a kernel for the element whose indices are the atoms 1, 2, ..., one
/// per dimension. The code is thrown away.
static FailureOr<SmallVector<MemoryRead>>
listReads(KernelCode &code, GpuThread &thread, ArrayRef<int64_t> shape) {
  ImplicitLocOpBuilder &builder = thread.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  Block scratch;
  builder.setInsertionPointToStart(&scratch);
  ElementEmitter emitter = thread.elements(/*lanes=*/1);
  SmallVector<MemoryRead> reads;
  emitter.recordReads(reads);
  SmallVector<LinearIndex> at;
  for (int64_t extent : shape)
    at.push_back(emitter.indices().atom(
        scratch.addArgument(builder.getIndexType(), builder.getLoc()), extent));
  for (auto [tensor, argument] : code.outputs)
    if (!emitter.emit(tensor, at))
      return failure();
  return reads;
}

/// Elements of large tensors that are read apart from each other by threads
/// that are neighbours along \p dim; small tensors stay in caches.
static int64_t scatteredReads(ArrayRef<MemoryRead> reads, unsigned dim,
                              int64_t outputs) {
  int64_t sum = 0;
  for (const MemoryRead &read : reads) {
    int64_t elements = cast<MemRefType>(read.flat.getType()).getNumElements();
    int64_t factor = read.position.factorOf(laneAtom + 1 + dim);
    if (elements >= outputs / 8 && factor != 0 && factor != 1)
      sum += elements;
  }
  return sum;
}

FailureOr<std::optional<unsigned>>
ckpt::findTransposedDim(KernelCode &code, GpuThread &thread,
                        RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  if (code.outputs.size() > mostOutputs || type.getNumElements() < side * side)
    return std::optional<unsigned>();
  FailureOr<SmallVector<MemoryRead>> reads = listReads(code, thread, shape);
  if (failed(reads))
    return failure();
  unsigned innermost = shape.size() - 1;
  while (shape[innermost] == 1)
    --innermost;
  int64_t least = scatteredReads(*reads, innermost, type.getNumElements());
  std::optional<unsigned> best;
  for (unsigned dim = 0; dim < innermost; ++dim) {
    int64_t here = scatteredReads(*reads, dim, type.getNumElements());
    if (here >= least || shape[dim] < shortest)
      continue;
    least = here;
    best = dim;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
/// The outputs as outer x turned x inner, the last two in squares.
class TransposedEmitter {
public:
  TransposedEmitter(KernelCode &code, RankedTensorType type, unsigned dim,
                    GpuThread &thread)
      : code(code), shape(type.getShape()), dim(dim), thread(thread),
        builder(thread.getBuilder()), emitter(thread.elements(/*lanes=*/1)),
        turned(shape[dim]),
        outer(ShapedType::getNumElements(shape.take_front(dim))),
        inner(ShapedType::getNumElements(shape.drop_front(dim + 1))) {}

  FailureOr<LaunchSize> emit();

private:
  using EmitPoint = llvm::function_ref<LogicalResult(
      ElementEmitter &, const LinearIndex &turnedAt, const LinearIndex &innerAt,
      Value line)>;

  LogicalResult forEachLine(bool alongTurned, EmitPoint emitPoint);
  LogicalResult compute(ElementEmitter &inside, const LinearIndex &turnedAt,
                        const LinearIndex &innerAt, Value line);
  void store(ElementEmitter &inside, const LinearIndex &turnedAt,
             const LinearIndex &innerAt, Value line);

  KernelCode &code;
  ArrayRef<int64_t> shape;
  unsigned dim;
  GpuThread &thread;
  ImplicitLocOpBuilder &builder;
  ElementEmitter emitter;
  int64_t turned, outer, inner;

  /// Rows are along the turned dimension.
  Corner corner;
  /// The thread's place in a line of the square, and its first line.
  LinearIndex inLine, firstLine;
  Value inLineValue;
  /// A square of each output.
  SmallVector<Value> squares;
};
} // namespace

/// Calls \p emitPoint in a loop over the lines of the square that the thread
/// has an element of, for elements inside.
LogicalResult TransposedEmitter::forEachLine(bool alongTurned,
                                             EmitPoint emitPoint) {
  int64_t turns = side / linesAtOnce;
  auto loop = scf::ForOp::create(builder, thread.constant(0),
                                 thread.constant(turns), thread.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter inside = emitter.nested(/*lanes=*/1);
  IndexEmitter &at = inside.indices();
  LinearIndex line =
      at.atom(loop.getInductionVar(), turns) * linesAtOnce + firstLine;
  Value lineValue = at.materialize(line);
  LinearIndex turnedAt = corner.row + (alongTurned ? inLine : line);
  LinearIndex innerAt = corner.column + (alongTurned ? line : inLine);
  return thread.ifBelow(
      at.materialize(turnedAt), turned, turnedAt.max() + 1,
      [&]() -> LogicalResult {
        return thread.ifBelow(
            at.materialize(innerAt), inner, innerAt.max() + 1, [&] {
              return emitPoint(inside, at.clamp(turnedAt, {0, turned}).index,
                               at.clamp(innerAt, {0, inner}).index, lineValue);
            });
      });
}

LogicalResult TransposedEmitter::compute(ElementEmitter &inside,
                                         const LinearIndex &turnedAt,
                                         const LinearIndex &innerAt,
                                         Value line) {
  IndexEmitter &index = inside.indices();
  SmallVector<LinearIndex> at =
      delinearize(corner.batch, shape.take_front(dim), index);
  at.push_back(turnedAt);
  llvm::append_range(at,
                     delinearize(innerAt, shape.drop_front(dim + 1), index));
  for (auto [number, output] : llvm::enumerate(code.outputs)) {
    Value element = inside.emit(output.first, at);
    if (!element)
      return failure();
    if (squares.size() == number) // One more bank than a line has elements.
      squares.push_back(thread.shared({side, side + 1}, element.getType()));
    memref::StoreOp::create(builder, element, squares[number],
                            ValueRange{line, inLineValue});
  }
  return success();
}

void TransposedEmitter::store(ElementEmitter &inside,
                              const LinearIndex &turnedAt,
                              const LinearIndex &innerAt, Value line) {
  LinearIndex position = (corner.batch * turned + turnedAt) * inner + innerAt;
  for (auto [square, flat] :
       llvm::zip_equal(squares, thread.getTarget().outputs)) {
    Value element =
        memref::LoadOp::create(builder, square, ValueRange{inLineValue, line});
    inside.store(element, flat, position);
  }
}

FailureOr<LaunchSize> TransposedEmitter::emit() {
  TileGrid grid = {outer, turned, inner, side, side};
  IndexEmitter &index = emitter.indices();
  corner = thread.corner(grid, index);
  std::tie(firstLine, inLine) =
      divideIndex(index.atom(thread.thread(), threadsPerBlock), side, index);
  inLineValue = index.materialize(inLine);
  auto computeAt = [&](auto &&...arguments) { return compute(arguments...); };
  if (failed(forEachLine(/*alongTurned=*/true, computeAt)))
    return failure();
  thread.barrier();
  auto storeAt = [&](auto &&...arguments) {
    store(arguments...);
    return success();
  };
  if (failed(forEachLine(/*alongTurned=*/false, storeAt)))
    return failure();
  return LaunchSize{grid.blocks()};
}

FailureOr<LaunchSize> ckpt::emitGpuTransposed(KernelCode &code,
                                              RankedTensorType type,
                                              unsigned dim, GpuThread &thread) {
  return TransposedEmitter(code, type, dim, thread).emit();
}
