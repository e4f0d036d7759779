//===- GpuAccumulators.cpp - A thread's part of a contraction -------------===//

#include "Conversion/Gpu/GpuAccumulators.h"
#include "Conversion/Kernel/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace ckpt;
using namespace mlir;

GpuAccumulators::GpuAccumulators(KernelCode &code,
                                 const ContractionShape &shape,
                                 GpuThread &thread, int64_t slots,
                                 int64_t width)
    : code(code), op(cast<linalg::LinalgOp>(code.anchor)), shape(shape),
      thread(thread), builder(thread.getBuilder()), slots(slots), width(width) {
}

Value GpuAccumulators::memoryOfThread() {
  if (memory)
    return memory;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&builder.getBlock()
                                        ->getParent()
                                        ->getParentOfType<gpu::GPUFuncOp>()
                                        .front());
  return memory = memref::AllocaOp::create(
             builder, MemRefType::get({slots, width}, shape.body.sumType),
             builder.getI64IntegerAttr(accessBytes));
}

VectorType GpuAccumulators::getVectorType() const {
  return VectorType::get(width, shape.body.sumType);
}

SmallVector<Value> GpuAccumulators::split(ValueRange vectors) {
  SmallVector<Value> elements;
  for (Value vector : vectors)
    for (int64_t lane = 0; lane < width; ++lane)
      elements.push_back(vector::ExtractOp::create(builder, vector, lane));
  return elements;
}

SmallVector<Value> GpuAccumulators::join(ValueRange elements) {
  SmallVector<Value> vectors;
  for (int64_t slot = 0; slot < slots; ++slot)
    vectors.push_back(vector::FromElementsOp::create(
        builder, getVectorType(), elements.slice(slot * width, width)));
  return vectors;
}

/// Vector number \p slot, or element \p lane of it.
Value GpuAccumulators::load(Value slot, Value lane) {
  if (lane)
    return memref::LoadOp::create(builder, memoryOfThread(),
                                  ValueRange{slot, lane});
  return vector::LoadOp::create(builder, getVectorType(), memoryOfThread(),
                                ValueRange{slot, thread.constant(0)},
                                /*nontemporal=*/false, llvm::Align(width * 4));
}

void GpuAccumulators::store(Value sum, Value slot, Value lane) {
  if (lane)
    memref::StoreOp::create(builder, sum, memoryOfThread(),
                            ValueRange{slot, lane});
  else
    vector::StoreOp::create(builder, sum, memoryOfThread(),
                            ValueRange{slot, thread.constant(0)},
                            /*nontemporal=*/false, llvm::Align(width * 4));
}

/// Calls \p emit with the indices of the result at \p row and from \p column
/// on, if there is one.
LogicalResult GpuAccumulators::emitInside(
    ElementEmitter &inside, const LinearIndex &batch, const LinearIndex &row,
    const LinearIndex &column,
    llvm::function_ref<LogicalResult(ArrayRef<LinearIndex>)> emit) {
  int64_t rows = shape.rows.getExtent(), columns = shape.columns.getExtent();
  IndexEmitter &at = inside.indices();
  auto emitPoint = [&] {
    ContractionPoint point = {batch, at.clamp(row, {0, rows}).index,
                              at.clamp(column + at.lane(), {0, columns}).index};
    return emit(resultIndices(op, shape, point, at));
  };
  return thread.ifBelow(at.materialize(row), rows, row.max() + 1,
                        [&]() -> LogicalResult {
                          return thread.ifBelow(at.materialize(column), columns,
                                                column.max() + 1, emitPoint);
                        });
}

LogicalResult GpuAccumulators::emitPoint(const Range &range, Value slot,
                                         Value lane, EmitPoint emitPoint) {
  ElementEmitter inside = range.emitter.nested(lane ? 1 : width);
  IndexEmitter &at = inside.indices();
  auto [row, column] = range.place(at.atom(slot, slots), at);
  if (lane)
    column = column + at.atom(lane, width);
  return emitInside(inside, range.batch, row, column,
                    [&](ArrayRef<LinearIndex> indices) {
                      return emitPoint(inside, indices, slot, lane);
                    });
}

LogicalResult GpuAccumulators::forEach(const Range &range, EmitPoint emitEach) {
  bool inLanes = shape.columns.getExtent() % width == 0 &&
                 supportsLanes(code.function.front());
  auto loop = scf::ForOp::create(builder, thread.constant(0),
                                 thread.constant(slots), thread.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value slot = loop.getInductionVar();
  if (inLanes)
    return emitPoint(range, slot, Value(), emitEach);
  auto lanes = scf::ForOp::create(builder, thread.constant(0),
                                  thread.constant(width), thread.constant(1));
  builder.setInsertionPointToStart(lanes.getBody());
  return emitPoint(range, slot, lanes.getInductionVar(), emitEach);
}

//===----------------------------------------------------------------------===//
// Inits
//===----------------------------------------------------------------------===//

/// The init if it is the same for all results: then it takes no memory.
Value GpuAccumulators::uniformInit(const Range &range) {
  Value tensor = op.getDpsInits().front();
  if (!tensor.getDefiningOp<linalg::FillOp>())
    return Value();
  ElementEmitter inside = range.emitter.nested(/*lanes=*/1);
  SmallVector<LinearIndex> first(shapeOf(tensor).size(), LinearIndex(0));
  return inside.emit(tensor, first);
}

FailureOr<SmallVector<Value>> GpuAccumulators::emitInits(const Range &range) {
  if (Value init = uniformInit(range)) {
    if (init.getType() != Type(shape.body.sumType))
      init = arith::ExtFOp::create(builder, shape.body.sumType, init);
    return SmallVector<Value>(
        slots, vector::BroadcastOp::create(builder, getVectorType(), init));
  }
  auto emitInit = [&](ElementEmitter &inside, ArrayRef<LinearIndex> at,
                      Value slot, Value lane) -> LogicalResult {
    Value init = inside.emit(op.getDpsInits().front(), at);
    if (!init)
      return failure();
    init = inside.broadcast(init);
    Type type = lane ? Type(shape.body.sumType) : Type(getVectorType());
    if (init.getType() != type)
      init = arith::ExtFOp::create(builder, type, init);
    store(init, slot, lane);
    return success();
  };
  if (failed(forEach(range, emitInit)))
    return failure();
  SmallVector<Value> sums;
  for (int64_t slot = 0; slot < slots; ++slot)
    sums.push_back(load(thread.constant(slot), Value()));
  return sums;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// From one \p sum, or several for the lanes of \p inside.
LogicalResult GpuAccumulators::emitOutput(ElementEmitter &inside,
                                          ArrayRef<LinearIndex> at, Value sum) {
  Value result = op->getResult(0);
  Type type = getElementTypeOrSelf(result.getType());
  if (auto vector = dyn_cast<VectorType>(sum.getType()))
    type = vector.clone(type);
  if (sum.getType() != type)
    sum = arith::TruncFOp::create(builder, type, sum);
  inside.setElement(result, sum);
  return emitOutputs(code, thread.getTarget(), inside, at);
}

LogicalResult GpuAccumulators::emitResults(const Range &range,
                                           ValueRange sums) {
  for (auto [slot, sum] : llvm::enumerate(sums))
    store(sum, thread.constant(slot), Value());
  auto emitResult = [&](ElementEmitter &inside, ArrayRef<LinearIndex> at,
                        Value slot, Value lane) {
    return emitOutput(inside, at, load(slot, lane));
  };
  return forEach(range, emitResult);
}

/// Lays the sums of this thread into the shared memory that operands had. Rows
/// are longer than the square, so that neighbouring ones start in other banks.
Value GpuAccumulators::lay(const SumExchange &exchange, const Range &range,
                           ValueRange sums) {
  constexpr int64_t padding = 8;
  Value shared = thread.overlaidShared({exchange.side, exchange.side + padding},
                                       shape.body.sumType);
  ElementEmitter inside = range.emitter.nested(/*lanes=*/1);
  IndexEmitter &at = inside.indices();
  // All threads have read their operands.
  thread.barrier();
  for (auto [slot, sum] : llvm::enumerate(sums)) {
    auto [row, column] = range.place(LinearIndex(slot), at);
    vector::StoreOp::create(
        builder, sum, shared,
        ValueRange{at.materialize(row - exchange.corner.row),
                   at.materialize(column - exchange.corner.column)},
        /*nontemporal=*/false, llvm::Align(width * 4));
  }
  thread.barrier();
  return shared;
}

LogicalResult GpuAccumulators::emitExchanged(const SumExchange &exchange,
                                             const Range &range,
                                             ValueRange sums) {
  Value shared = lay(exchange, range, sums);
  int64_t lanes = std::gcd(lanesOf(code), shape.columns.getExtent());
  int64_t vectors = exchange.side / lanes;
  int64_t rowsAtOnce = exchange.threads / vectors;
  int64_t turns = exchange.side / rowsAtOnce;
  auto loop = scf::ForOp::create(builder, thread.constant(0),
                                 thread.constant(turns), thread.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter inside = range.emitter.nested(lanes);
  IndexEmitter &at = inside.indices();
  auto [rowInTurn, vector] = divideIndex(exchange.inBlock, vectors, at);
  LinearIndex row =
      at.atom(loop.getInductionVar(), turns) * rowsAtOnce + rowInTurn;
  LinearIndex column = vector * lanes;
  auto emitVector = [&, row = row,
                     column = column](ArrayRef<LinearIndex> indices) {
    SmallVector<Value> place = {at.materialize(row), at.materialize(column)};
    Value sum =
        lanes == 1
            ? Value(memref::LoadOp::create(builder, shared, place))
            : vector::LoadOp::create(
                  builder, VectorType::get(lanes, shape.body.sumType), shared,
                  place, /*nontemporal=*/false, llvm::Align(accessBytes));
    return emitOutput(inside, indices, sum);
  };
  return emitInside(inside, range.batch, exchange.corner.row + row,
                    exchange.corner.column + column, emitVector);
}

LogicalResult GpuAccumulators::emit(
    const ElementEmitter &emitter, const LinearIndex &batch, const Place &place,
    llvm::function_ref<SmallVector<Value>(SmallVector<Value>)> add,
    const SumExchange *exchange) {
  Range range = {emitter, batch, place};
  FailureOr<SmallVector<Value>> inits = emitInits(range);
  if (failed(inits))
    return failure();
  SmallVector<Value> sums = add(std::move(*inits));
  return exchange ? emitExchanged(*exchange, range, sums)
                  : emitResults(range, sums);
}
