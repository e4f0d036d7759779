//===- EmitContraction.cpp - Matmuls and convolutions in register tiles ---===//
//
// A task makes a block of rows by one panel of columns of the result. The panel
// of the right operand is packed, a tile of sums stays in registers over a
// block of the reduced dimension and in scratch memory between blocks; the
// epilogue reads that scratch. Every sum is one chain of fused multiply-adds
// in the order of the reduced loops, starting at the init, or one per chunk if
// sums are long: so neither tiles nor threads nor fusion have an influence on
// the bits.
//
//===----------------------------------------------------------------------===//

#include "ContractionShape.h"
#include "Epilogue.h"
#include "ckpt/Analysis/Tiling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

namespace {

/// Emits one task.
class ContractionEmitter {
public:
  ContractionEmitter(KernelCode &code, const ContractionShape &shape,
                     const Tiling &tiling, bool epilogueInLanes,
                     TaskTarget &target)
      : code(code), op(cast<linalg::LinalgOp>(code.anchor)), shape(shape),
        tiling(tiling), epilogueInLanes(epilogueInLanes), target(target),
        builder(target.builder), index(target.builder, tiling.lanes),
        isLong(hasLongSums(op)) {}

  LogicalResult emit();

private:
  using PointEmitter = llvm::function_ref<LogicalResult(
      ElementEmitter &, ArrayRef<LinearIndex>, Value row, Value column)>;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  /// Once per function, also where tasks run in a loop.
  Value scratch(ArrayRef<int64_t> extents, Type element) {
    OpBuilder::InsertionGuard guard(builder);
    Block *entry = builder.getInsertionBlock();
    while (!isa<func::FuncOp>(entry->getParentOp()))
      entry = entry->getParentOp()->getBlock();
    builder.setInsertionPointToStart(entry);
    auto type = MemRefType::get(extents, element);
    return memref::AllocaOp::create(builder, type,
                                    builder.getI64IntegerAttr(64));
  }
  void fillRowTable();
  void packPanel(Value firstStep, Value stepsHere);
  void packSteps(Value firstStep, Value stepsHere, bool full);
  void packSquare(Value firstStep, Value square, bool full);
  bool isTransposed() const;
  void packColumns(ElementEmitter &emitter, const LinearIndex &base, Value step,
                   bool full);
  void emitTiles(Value firstStep, Value stepsHere);
  void emitTile(Value tile, Value stepsHere);
  Value leftElement(Value rowOffset, Value step);
  /// Visits the elements of the block of sums, in vectors where all are inside.
  LogicalResult forEachSum(PointEmitter emitPoint);
  LogicalResult emitInits();
  LogicalResult emitEpilogue();
  SmallVector<LinearIndex> resultIndices(IndexEmitter &index,
                                         const LinearIndex &row,
                                         const LinearIndex &column);
  /// Emits \p body for counters from 0 to \p end.
  template <typename Body>
  void emitLoop(Value end, Body body) {
    auto loop = scf::ForOp::create(builder, constant(0), end, constant(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  KernelCode &code;
  linalg::LinalgOp op;
  const ContractionShape &shape;
  const Tiling &tiling;
  bool epilogueInLanes;
  TaskTarget &target;
  ImplicitLocOpBuilder &builder;
  IndexEmitter index;
  /// Whether every block of steps is a chain of its own.
  bool isLong;

  Value batch, rowBlock, panel, firstRow, rowsHere;
  Value leftFlat, rightFlat, leftBatch, rightBatch;
  Value packed, sums, rowTable, stepTable;
};

} // namespace

/// How \p shape is cut into tiles. Chunks of long sums are blocks of steps.
static Tiling tilingOf(const ContractionShape &shape, int64_t targetLanes,
                       bool isLong) {
  ContractionExtents extents = {shape.batch.getExtent(), shape.rows.getExtent(),
                                shape.columns.getExtent(),
                                shape.reduced.getExtent()};
  Tiling tiling(extents, shape.body.sumType.getIntOrFloatBitWidth() / 8,
                targetLanes);
  if (isLong) {
    tiling.blockSteps = chunkSteps;
    tiling.stepBlocks = llvm::divideCeil(tiling.steps, chunkSteps);
  }
  return tiling;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

void ContractionEmitter::fillRowTable() {
  emitLoop(constant(tiling.blockRows), [&](Value row) {
    // Rows past the end repeat the last one; nobody reads their sums.
    IndexEmitter inside(builder, 1);
    Value global = arith::AddIOp::create(builder, firstRow, row);
    global = arith::MinSIOp::create(builder, global, constant(tiling.rows - 1));
    LinearIndex at = operandOffset(shape.rows, inside.atom(global, tiling.rows),
                                   /*right=*/false, inside);
    Value offset = inside.materialize(inside.simplify(at));
    offset = arith::AddIOp::create(builder, offset, leftBatch);
    memref::StoreOp::create(builder, offset, rowTable, row);
  });
}

SmallVector<LinearIndex>
ContractionEmitter::resultIndices(IndexEmitter &index, const LinearIndex &row,
                                  const LinearIndex &column) {
  return ckpt::resultIndices(
      op, shape, {index.atom(batch, tiling.batch), row, column}, index);
}

//===----------------------------------------------------------------------===//
// The right operand
//===----------------------------------------------------------------------===//

void ContractionEmitter::packColumns(ElementEmitter &emitter,
                                     const LinearIndex &base, Value step,
                                     bool full) {
  IndexEmitter &inside = emitter.indices();
  for (int64_t vector = 0; vector < tiling.vectors; ++vector) {
    LinearIndex column = inside.atom(panel, tiling.panels) * tiling.panel +
                         vector * tiling.lanes + inside.lane();
    if (!full) // Nobody reads the sums of columns past the end.
      column = inside.clamp(column, {0, tiling.columns}).index;
    LinearIndex at =
        operandOffset(shape.columns, column, /*right=*/true, inside);
    Value elements = emitter.broadcast(emitter.load(rightFlat, base + at));
    auto type = VectorType::get(tiling.lanes, shape.body.sumType);
    if (elements.getType() != type)
      elements = arith::ExtFOp::create(builder, type, elements);
    vector::StoreOp::create(builder, elements, packed,
                            ValueRange{step, constant(vector * tiling.lanes)});
  }
}

/// The reduced dimension is contiguous, the columns are not: squares of as many
/// steps as lanes are loaded along the steps and transposed in registers.
void ContractionEmitter::packSquare(Value firstStep, Value square, bool full) {
  Value step = arith::MulIOp::create(builder, square, constant(tiling.lanes));
  Value global = arith::AddIOp::create(builder, firstStep, step);
  auto narrow = VectorType::get(
      tiling.lanes, cast<MemRefType>(rightFlat.getType()).getElementType());
  auto row = VectorType::get(tiling.lanes, shape.body.sumType);
  auto type = VectorType::get({tiling.lanes, tiling.lanes}, shape.body.sumType);
  for (int64_t vector = 0; vector < tiling.vectors; ++vector) {
    IndexEmitter inside(builder, 1);
    Value elements =
        arith::ConstantOp::create(builder, builder.getZeroAttr(type));
    for (int64_t lane = 0; lane < tiling.lanes; ++lane) {
      LinearIndex column = inside.atom(panel, tiling.panels) * tiling.panel +
                           (vector * tiling.lanes + lane);
      if (!full)
        column = inside.clamp(column, {0, tiling.columns}).index;
      LinearIndex at =
          operandOffset(shape.columns, column, /*right=*/true, inside) +
          inside.atom(global, tiling.steps) +
          inside.atom(rightBatch, int64_t(1) << 40);
      Value loaded = vector::LoadOp::create(builder, narrow, rightFlat,
                                            inside.materialize(at));
      if (narrow != row)
        loaded = arith::ExtFOp::create(builder, row, loaded);
      elements = vector::InsertOp::create(builder, loaded, elements, lane);
    }
    Value transposed =
        vector::TransposeOp::create(builder, elements, ArrayRef<int64_t>{1, 0});
    for (int64_t lane = 0; lane < tiling.lanes; ++lane) {
      Value into = arith::AddIOp::create(builder, step, constant(lane));
      vector::StoreOp::create(
          builder, vector::ExtractOp::create(builder, transposed, lane), packed,
          ValueRange{into, constant(vector * tiling.lanes)});
    }
  }
}

bool ContractionEmitter::isTransposed() const {
  return tiling.lanes == 16 && Type(shape.body.sumType).isF32() &&
         shape.reduced.parts.size() == 1 &&
         shape.reduced.parts.front().rightStride == 1 &&
         shape.columns.parts.back().rightStride != 1;
}

void ContractionEmitter::packSteps(Value firstStep, Value stepsHere,
                                   bool full) {
  Value packedSteps = constant(0);
  if (isTransposed()) {
    Value squares =
        arith::DivUIOp::create(builder, stepsHere, constant(tiling.lanes));
    emitLoop(squares,
             [&](Value square) { packSquare(firstStep, square, full); });
    packedSteps =
        arith::MulIOp::create(builder, squares, constant(tiling.lanes));
  }
  Value rest = arith::SubIOp::create(builder, stepsHere, packedSteps);
  emitLoop(rest, [&](Value counter) {
    Value step = arith::AddIOp::create(builder, counter, packedSteps);
    Value global = arith::AddIOp::create(builder, firstStep, step);
    ElementEmitter emitter(builder, target.memory, tiling.lanes);
    LinearIndex base =
        operandOffset(shape.reduced,
                      emitter.indices().atom(global, tiling.steps),
                      /*right=*/true, emitter.indices()) +
        emitter.indices().atom(rightBatch, int64_t(1) << 40);
    packColumns(emitter, base, step, full);
  });
}

void ContractionEmitter::packPanel(Value firstStep, Value stepsHere) {
  if (tiling.columns % tiling.panel == 0)
    return packSteps(firstStep, stepsHere, /*full=*/true);
  Value isFull = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                       panel, constant(tiling.panels - 1));
  auto choice = scf::IfOp::create(builder, isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  packSteps(firstStep, stepsHere, /*full=*/true);
  builder.setInsertionPointToStart(choice.elseBlock());
  packSteps(firstStep, stepsHere, /*full=*/false);
}

//===----------------------------------------------------------------------===//
// The register tile
//===----------------------------------------------------------------------===//

Value ContractionEmitter::leftElement(Value rowOffset, Value step) {
  Value at = arith::AddIOp::create(builder, rowOffset, step);
  Value element = memref::LoadOp::create(builder, leftFlat, at);
  if (element.getType() != shape.body.sumType)
    element = arith::ExtFOp::create(builder, shape.body.sumType, element);
  return vector::BroadcastOp::create(
      builder, VectorType::get(tiling.lanes, shape.body.sumType), element);
}

void ContractionEmitter::emitTile(Value tile, Value stepsHere) {
  auto type = VectorType::get(tiling.lanes, shape.body.sumType);
  Value firstRow =
      arith::MulIOp::create(builder, tile, constant(tiling.tileRows));
  SmallVector<Value> rowOffsets, running, rows;
  auto loadSum = [&](Value row, int64_t vector) -> Value {
    return vector::LoadOp::create(
        builder, type, sums, ValueRange{row, constant(vector * tiling.lanes)});
  };
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  for (int64_t row = 0; row < tiling.tileRows; ++row) {
    rows.push_back(arith::AddIOp::create(builder, firstRow, constant(row)));
    rowOffsets.push_back(
        memref::LoadOp::create(builder, rowTable, rows.back()));
    for (int64_t vector = 0; vector < tiling.vectors; ++vector)
      running.push_back(isLong ? zero : loadSum(rows.back(), vector));
  }
  auto loop =
      scf::ForOp::create(builder, constant(0), stepsHere, constant(1), running);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar();
    Value offset = memref::LoadOp::create(builder, stepTable, step);
    SmallVector<Value> right, next;
    for (int64_t vector = 0; vector < tiling.vectors; ++vector)
      right.push_back(vector::LoadOp::create(
          builder, type, packed,
          ValueRange{step, constant(vector * tiling.lanes)}));
    for (int64_t row = 0; row < tiling.tileRows; ++row) {
      Value left = leftElement(rowOffsets[row], offset);
      for (int64_t vector = 0; vector < tiling.vectors; ++vector)
        next.push_back(math::FmaOp::create(
            builder, left, right[vector],
            loop.getRegionIterArgs()[row * tiling.vectors + vector]));
    }
    scf::YieldOp::create(builder, next);
  }
  for (int64_t row = 0; row < tiling.tileRows; ++row)
    for (int64_t vector = 0; vector < tiling.vectors; ++vector) {
      Value sum = loop.getResult(row * tiling.vectors + vector);
      if (isLong)
        sum = arith::AddFOp::create(builder, loadSum(rows[row], vector), sum);
      vector::StoreOp::create(
          builder, sum, sums,
          ValueRange{rows[row], constant(vector * tiling.lanes)});
    }
}

void ContractionEmitter::emitTiles(Value firstStep, Value stepsHere) {
  emitLoop(stepsHere, [&](Value step) {
    IndexEmitter inside(builder, 1);
    Value global = arith::AddIOp::create(builder, firstStep, step);
    LinearIndex at =
        operandOffset(shape.reduced, inside.atom(global, tiling.steps),
                      /*right=*/false, inside);
    Value offset = inside.materialize(inside.simplify(at));
    memref::StoreOp::create(builder, offset, stepTable, step);
  });
  Value tiles =
      arith::CeilDivUIOp::create(builder, rowsHere, constant(tiling.tileRows));
  emitLoop(tiles, [&](Value tile) { emitTile(tile, stepsHere); });
}

//===----------------------------------------------------------------------===//
// Inits and epilogue
//===----------------------------------------------------------------------===//

LogicalResult ContractionEmitter::forEachSum(PointEmitter emitPoint) {
  LogicalResult result = success();
  auto visit = [&](Value row, int64_t lanes, Value column) {
    ElementEmitter emitter(builder, target.memory, lanes);
    IndexEmitter &inside = emitter.indices();
    LinearIndex rowIndex =
        inside.atom(rowBlock, tiling.rowBlocks) * tiling.blockRows +
        inside.atom(row, tiling.blockRows);
    LinearIndex columnIndex = inside.atom(panel, tiling.panels) * tiling.panel;
    columnIndex =
        columnIndex +
        (lanes == 1 ? inside.atom(column, tiling.panel)
                    : inside.atom(column, tiling.vectors) * tiling.lanes +
                          inside.lane());
    Value inScratch =
        lanes == 1 ? column
                   : Value(arith::MulIOp::create(builder, column,
                                                 constant(tiling.lanes)));
    if (failed(emitPoint(emitter, resultIndices(inside, rowIndex, columnIndex),
                         row, inScratch)))
      result = failure();
  };
  auto visitAll = [&](int64_t lanes, Value count) {
    emitLoop(rowsHere, [&](Value row) {
      emitLoop(count, [&](Value column) { visit(row, lanes, column); });
    });
  };
  int64_t rest = tiling.columns % tiling.panel;
  auto visitFull = [&] {
    if (epilogueInLanes)
      visitAll(tiling.lanes, constant(tiling.vectors));
    else
      visitAll(1, constant(tiling.panel));
  };
  if (rest == 0) {
    visitFull();
    return result;
  }
  Value isFull = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                       panel, constant(tiling.panels - 1));
  auto choice = scf::IfOp::create(builder, isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  visitFull();
  builder.setInsertionPointToStart(choice.elseBlock());
  visitAll(1, constant(rest));
  return result;
}

LogicalResult ContractionEmitter::emitInits() {
  Value init = op.getDpsInits().front();
  return forEachSum([&](ElementEmitter &emitter, ArrayRef<LinearIndex> at,
                        Value row, Value column) -> LogicalResult {
    Value element = emitter.emit(init, at);
    if (!element)
      return failure();
    element = emitter.broadcast(element);
    Type type = shape.body.sumType;
    auto vector = dyn_cast<VectorType>(element.getType());
    if (vector)
      type = vector.clone(type);
    if (element.getType() != type)
      element = arith::ExtFOp::create(builder, type, element);
    if (vector)
      vector::StoreOp::create(builder, element, sums, ValueRange{row, column});
    else
      memref::StoreOp::create(builder, element, sums, ValueRange{row, column});
    return success();
  });
}

LogicalResult ContractionEmitter::emitEpilogue() {
  Value result = op->getResult(0);
  return forEachSum([&](ElementEmitter &emitter, ArrayRef<LinearIndex> at,
                        Value row, Value column) {
    Type type = shape.body.sumType;
    Type resultType = getElementTypeOrSelf(result.getType());
    Value sum;
    int64_t lanes = emitter.indices().getLanes();
    if (lanes == 1) {
      sum = memref::LoadOp::create(builder, sums, ValueRange{row, column});
    } else {
      resultType = VectorType::get(lanes, resultType);
      sum = vector::LoadOp::create(builder, VectorType::get(lanes, type), sums,
                                   ValueRange{row, column});
    }
    if (sum.getType() != resultType)
      sum = arith::TruncFOp::create(builder, resultType, sum);
    emitter.setElement(result, sum);
    return emitOutputs(code, target, emitter, at);
  });
}

LogicalResult ContractionEmitter::emit() {
  SmallVector<LinearIndex> place = delinearize(
      index.atom(target.task, tiling.batch * tiling.rowBlocks * tiling.panels),
      {tiling.batch, tiling.rowBlocks, tiling.panels}, index);
  batch = index.materialize(place[0]);
  rowBlock = index.materialize(place[1]);
  panel = index.materialize(place[2]);
  firstRow = index.materialize(place[1] * tiling.blockRows);
  Value rest = arith::SubIOp::create(builder, constant(tiling.rows), firstRow);
  rowsHere = arith::MinSIOp::create(builder, rest, constant(tiling.blockRows));
  leftFlat = target.memory.lookup(shape.left.tensor);
  rightFlat = target.memory.lookup(shape.right.tensor);
  leftBatch = index.materialize(
      operandOffset(shape.batch, place[0], /*right=*/false, index) +
      shape.left.offset);
  rightBatch = index.materialize(
      operandOffset(shape.batch, place[0], /*right=*/true, index) +
      shape.right.offset);
  packed = scratch({tiling.blockSteps, tiling.panel}, shape.body.sumType);
  sums = scratch({tiling.blockRows, tiling.panel}, shape.body.sumType);
  rowTable = scratch({tiling.blockRows}, builder.getIndexType());
  stepTable = scratch({tiling.blockSteps}, builder.getIndexType());
  fillRowTable();
  if (failed(emitInits()))
    return failure();
  emitLoop(constant(tiling.stepBlocks), [&](Value block) {
    Value firstStep =
        arith::MulIOp::create(builder, block, constant(tiling.blockSteps));
    Value rest =
        arith::SubIOp::create(builder, constant(tiling.steps), firstStep);
    Value stepsHere =
        arith::MinSIOp::create(builder, rest, constant(tiling.blockSteps));
    packPanel(firstStep, stepsHere);
    emitTiles(firstStep, stepsHere);
  });
  return emitEpilogue();
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult ckpt::emitContractionKernel(KernelCode &code, int64_t lanes,
                                          SymbolTable &symbols) {
  auto op = cast<linalg::LinalgOp>(code.anchor);
  std::optional<ContractionShape> shape = matchContractionShape(code, op);
  if (!shape || shape->reduced.getExtent() == 0 ||
      cast<ShapedType>(op->getResult(0).getType()).getNumElements() == 0)
    return emitReductionKernel(code, lanes, symbols);
  Tiling tiling = tilingOf(*shape, lanes, hasLongSums(op));
  bool inLanes = lanes > 1 && supportsLanes(code.function.front());
  auto emit = [&](TaskTarget &target) {
    return ContractionEmitter(code, *shape, tiling, inLanes, target).emit();
  };
  int64_t work = tiling.batch * tiling.rows * tiling.columns *
                 (tiling.steps / 8 + workPerElement(code));
  return emitTasks(
      code, {tiling.batch * tiling.rowBlocks * tiling.panels, work, emit},
      symbols);
}
