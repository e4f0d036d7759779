//===- GpuAccumulators.cpp - A thread's part of a contraction -------------===//

#include "Conversion/Gpu/GpuAccumulators.h"
#include "Conversion/Kernel/Epilogue.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace ckpt;
using namespace mlir;

GpuAccumulators::GpuAccumulators(KernelCode &code,
                                 const ContractionShape &shape,
                                 GpuThread &thread, int64_t slots,
                                 int64_t width)
    : code(code), op(cast<linalg::LinalgOp>(code.anchor)), shape(shape),
      thread(thread), builder(thread.getBuilder()), slots(slots), width(width) {
  memory = memref::AllocaOp::create(
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
    return memref::LoadOp::create(builder, memory, ValueRange{slot, lane});
  return vector::LoadOp::create(builder, getVectorType(), memory,
                                ValueRange{slot, thread.constant(0)},
                                /*nontemporal=*/false, llvm::Align(width * 4));
}

void GpuAccumulators::store(Value sum, Value slot, Value lane) {
  if (lane)
    memref::StoreOp::create(builder, sum, memory, ValueRange{slot, lane});
  else
    vector::StoreOp::create(builder, sum, memory,
                            ValueRange{slot, thread.constant(0)},
                            /*nontemporal=*/false, llvm::Align(width * 4));
}

LogicalResult GpuAccumulators::emitPoint(const Range &range, Value slot,
                                         Value lane, EmitPoint emitPoint) {
  int64_t rows = shape.rows.getExtent(), columns = shape.columns.getExtent();
  ElementEmitter inside = range.emitter.nested(lane ? 1 : width);
  IndexEmitter &at = inside.indices();
  auto [row, column] = range.place(at.atom(slot, slots), at);
  if (lane)
    column = column + at.atom(lane, width);
  auto emitInside = [&, row = row, column = column] {
    ContractionPoint point = {range.batch, at.clamp(row, {0, rows}).index,
                              at.clamp(column + at.lane(), {0, columns}).index};
    return emitPoint(inside, resultIndices(op, shape, point, at), slot, lane);
  };
  return thread.ifBelow(at.materialize(row), rows, row.max() + 1,
                        [&, column = column]() -> LogicalResult {
                          return thread.ifBelow(at.materialize(column), columns,
                                                column.max() + 1, emitInside);
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

FailureOr<SmallVector<Value>>
GpuAccumulators::emitInits(const Range &range) {
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

LogicalResult GpuAccumulators::emitResults(const Range &range,
                                           ValueRange sums) {
  for (auto [slot, sum] : llvm::enumerate(sums))
    store(sum, thread.constant(slot), Value());
  Value result = op->getResult(0);
  auto emitResult = [&](ElementEmitter &inside, ArrayRef<LinearIndex> at,
                        Value slot, Value lane) -> LogicalResult {
    Value sum = load(slot, lane);
    Type type = getElementTypeOrSelf(result.getType());
    if (!lane)
      type = VectorType::get(width, type);
    if (sum.getType() != type)
      sum = arith::TruncFOp::create(builder, type, sum);
    inside.setElement(result, sum);
    return emitOutputs(code, thread.getTarget(), inside, at);
  };
  return forEach(range, emitResult);
}

LogicalResult GpuAccumulators::emit(
    const ElementEmitter &emitter, const LinearIndex &batch, const Place &place,
    llvm::function_ref<SmallVector<Value>(SmallVector<Value>)> add) {
  Range range = {emitter, batch, place};
  FailureOr<SmallVector<Value>> inits = emitInits(range);
  if (failed(inits))
    return failure();
  return emitResults(range, add(std::move(*inits)));
}
