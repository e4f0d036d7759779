//===- EmitContraction.cpp - Matmuls and convolutions in register tiles ---===//
//
// A task makes a block of rows by some panels of columns of the result, one
// block of the reduced dimension after another. The panel of the right operand
// is packed. A tile of sums stays in registers over such a block and in scratch
// memory between blocks; the epilogue reads that scratch. The lines that the
// epilogue of a tile writes are asked for before its last steps. Every sum is
// one chain of fused multiply-adds in the order of the reduced loops, starting
// at the init, or one per chunk if sums are long. Neither tiles nor threads nor
// fusion therefore influence the bits.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Cpu/CpuEmitters.h"
#include "Conversion/Cpu/EmitTasks.h"
#include "Conversion/Cpu/PackedB.h"
#include "Conversion/Cpu/PaddedA.h"
#include "Conversion/Kernel/ContractionShape.h"
#include "Conversion/Kernel/Epilogue.h"
#include "ckpt/Cost/Tiling.h"
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
  /// Emits the point of the result at some indices, or one for each lane, whose
  /// sums are the elements of scratch memory at a row and a column.
  using PointEmitter =
      llvm::function_ref<LogicalResult(ElementEmitter &, ArrayRef<LinearIndex>,
                                       Value scratch, Value row, Value column)>;

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
  Value rowOfSums(Value row) {
    return arith::AddIOp::create(builder, panelSums, row);
  }
  /// Emits \p body for each panel of the task.
  void forEachPanel(llvm::function_ref<void()> body);
  /// Whether the first rows, or columns, are neighbours in all outputs.
  bool areNeighbours(bool rows);
  void fillRowTable();
  void fillStepTable(Value firstStep, Value stepsHere);
  void emitTiles(Value block, Value stepsHere);
  void emitTile(Value tile, Value stepsHere);
  /// Asks for the lines of the outputs that the epilogue of \p tile writes.
  void prefetchTile(Value tile);
  /// Sums of a tile, by row and vector, and an element of a row at a step.
  using Sums = SmallVector<Value>;
  using LeftElement = llvm::function_ref<Value(int64_t inTile, Value step)>;
  Sums addSteps(Value begin, Value end, ValueRange running,
                LeftElement leftElement);
  Sums addFromMemory(const TileRows &rows, Value begin, Value end,
                     ValueRange running);
  Sums addFromCorner(const TileRows &rows, Value begin, Value end,
                     ValueRange running);
  Sums addPaddedSteps(const TileRows &rows, Value stepsHere,
                      ValueRange running);
  /// Visits the elements of the block of sums, in vectors where all are inside.
  LogicalResult forEachSum(PointEmitter emitPoint);
  /// The same in vectors along the rows, by squares of sums.
  LogicalResult forEachSumAlongRows(PointEmitter emitPoint);
  void transposeSquare(Value firstRow, Value firstColumn, Value square);
  LogicalResult visitSums(Value row, int64_t lanes, Value column,
                          PointEmitter emitPoint);
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

  Value batch, rowBlock, firstRow, rowsHere;
  Value firstPanel;
  /// The panel that is worked on, and the first row of its sums.
  Value panel, panelSums;
  Value leftFlat, leftBatch;
  Value sums, rowTable, stepTable;
  std::optional<PackedB> packed;
  /// The padded left operand, if it has borders.
  std::optional<PaddedA> padded;
  /// Whether the epilogue works in vectors along the rows.
  bool alongRows = false;
};

} // namespace

static ContractionExtents extentsOf(const ContractionShape &shape) {
  return {shape.batch.getExtent(), shape.rows.getExtent(),
          shape.columns.getExtent(), shape.reduced.getExtent(),
          shape.rows.isContiguous(/*right=*/false)};
}

/// How \p shape is cut into tiles. Chunks of long sums are blocks of steps.
static Tiling tilingOf(const ContractionShape &shape, int64_t targetLanes,
                       bool threads, bool isLong) {
  Tiling tiling(extentsOf(shape),
                shape.body.sumType.getIntOrFloatBitWidth() / 8, targetLanes,
                threads);
  if (isLong) {
    tiling.blockSteps = chunkSteps;
    tiling.stepBlocks = llvm::divideCeil(tiling.steps, chunkSteps);
  }
  if (shape.hasBorders(/*right=*/false))
    fitToBorders(tiling, shape, isLong);
  return tiling;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

void ContractionEmitter::fillRowTable() {
  emitLoop(constant(tiling.blockRows), [&](Value row) {
    // Rows past the end repeat the last one; their sums have no reader.
    IndexEmitter inside(builder, 1);
    Value global = arith::AddIOp::create(builder, firstRow, row);
    global = arith::MinSIOp::create(builder, global, constant(tiling.rows - 1));
    LinearIndex at = operandOffset(shape.rows, inside.atom(global, tiling.rows),
                                   /*right=*/false, inside);
    Value offset = inside.materialize(inside.simplify(at));
    offset = arith::AddIOp::create(builder, offset, leftBatch);
    memref::StoreOp::create(builder, offset, rowTable, row);
    if (padded)
      padded->setRow(row, global, batch);
  });
}

SmallVector<LinearIndex>
ContractionEmitter::resultIndices(IndexEmitter &index, const LinearIndex &row,
                                  const LinearIndex &column) {
  return ckpt::resultIndices(
      op, shape, {index.atom(batch, tiling.batch), row, column}, index);
}

bool ContractionEmitter::areNeighbours(bool rows) {
  if ((rows ? tiling.rows : tiling.columns) < tiling.lanes)
    return false;
  IndexEmitter lanes(builder, tiling.lanes);
  LinearIndex row = rows ? lanes.lane() : 0, column = rows ? 0 : lanes.lane();
  return areNeighboursInOutputs(code, lanes, resultIndices(lanes, row, column));
}

//===----------------------------------------------------------------------===//
// The register tile
//===----------------------------------------------------------------------===//

/// Adds the steps from \p begin to \p end to the sums \p running.
ContractionEmitter::Sums ContractionEmitter::addSteps(Value begin, Value end,
                                                      ValueRange running,
                                                      LeftElement leftElement) {
  auto type = VectorType::get(tiling.lanes, shape.body.sumType);
  auto loop = scf::ForOp::create(builder, begin, end, constant(1), running);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  SmallVector<Value> right, next;
  for (int64_t vector = 0; vector < tiling.vectors; ++vector)
    right.push_back(packed->load(step, vector));
  for (int64_t row = 0; row < tiling.tileRows; ++row) {
    Value left = leftElement(row, step);
    if (left.getType() != shape.body.sumType)
      left = arith::ExtFOp::create(builder, shape.body.sumType, left);
    left = vector::BroadcastOp::create(builder, type, left);
    for (int64_t vector = 0; vector < tiling.vectors; ++vector)
      next.push_back(math::FmaOp::create(
          builder, left, right[vector],
          loop.getRegionIterArgs()[row * tiling.vectors + vector]));
  }
  scf::YieldOp::create(builder, next);
  return Sums(loop.getResults());
}

ContractionEmitter::Sums ContractionEmitter::addFromMemory(const TileRows &rows,
                                                           Value begin,
                                                           Value end,
                                                           ValueRange running) {
  return addSteps(begin, end, running, [&](int64_t row, Value step) -> Value {
    Value at =
        arith::AddIOp::create(builder, rows.offsets[row],
                              memref::LoadOp::create(builder, stepTable, step));
    return memref::LoadOp::create(builder, leftFlat, at);
  });
}

ContractionEmitter::Sums ContractionEmitter::addFromCorner(const TileRows &rows,
                                                           Value begin,
                                                           Value end,
                                                           ValueRange running) {
  padded->bring(rows, begin, arith::SubIOp::create(builder, end, begin));
  return addSteps(begin, end, running, [&](int64_t row, Value step) {
    return padded->load(row, arith::SubIOp::create(builder, step, begin));
  });
}

/// Some steps at a time, by the corner where one of them is outside.
ContractionEmitter::Sums
ContractionEmitter::addPaddedSteps(const TileRows &rows, Value stepsHere,
                                   ValueRange running) {
  Value some = constant(padded->cornerSteps());
  auto loop =
      scf::ForOp::create(builder, constant(0), stepsHere, some, running);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value begin = loop.getInductionVar();
  Value end = arith::AddIOp::create(builder, begin, some);
  if (!padded->isAlwaysFull())
    end = arith::MinSIOp::create(builder, end, stepsHere);
  ValueRange before = loop.getRegionIterArgs();
  Value isInside = padded->isInside(rows, begin);
  if (!isInside) {
    scf::YieldOp::create(builder, addFromCorner(rows, begin, end, before));
    return Sums(loop.getResults());
  }
  auto choice = scf::IfOp::create(builder, before.getTypes(), isInside,
                                  /*withElseRegion=*/true);
  scf::YieldOp::create(builder, choice.getResults());
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, addFromMemory(rows, begin, end, before));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, addFromCorner(rows, begin, end, before));
  return Sums(loop.getResults());
}

void ContractionEmitter::emitTile(Value tile, Value stepsHere) {
  auto type = VectorType::get(tiling.lanes, shape.body.sumType);
  Value firstRow =
      arith::MulIOp::create(builder, tile, constant(tiling.tileRows));
  SmallVector<Value> rowOffsets, running, rows;
  auto sumAt = [&](Value row, int64_t vector) {
    return SmallVector<Value>{rowOfSums(row), constant(vector * tiling.lanes)};
  };
  auto loadSum = [&](Value row, int64_t vector) -> Value {
    return vector::LoadOp::create(builder, type, sums, sumAt(row, vector));
  };
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  for (int64_t row = 0; row < tiling.tileRows; ++row) {
    rows.push_back(arith::AddIOp::create(builder, firstRow, constant(row)));
    rowOffsets.push_back(
        memref::LoadOp::create(builder, rowTable, rows.back()));
    for (int64_t vector = 0; vector < tiling.vectors; ++vector)
      running.push_back(isLong ? zero : loadSum(rows.back(), vector));
  }
  TileRows tileOfRows{rows, rowOffsets, leftFlat};
  running = padded ? addPaddedSteps(tileOfRows, stepsHere, running)
                   : addFromMemory(tileOfRows, constant(0), stepsHere, running);
  for (int64_t row = 0; row < tiling.tileRows; ++row)
    for (int64_t vector = 0; vector < tiling.vectors; ++vector) {
      Value sum = running[row * tiling.vectors + vector];
      if (isLong)
        sum = arith::AddFOp::create(builder, loadSum(rows[row], vector), sum);
      vector::StoreOp::create(builder, sum, sums, sumAt(rows[row], vector));
    }
}

void ContractionEmitter::prefetchTile(Value tile) {
  IndexEmitter inside(builder, /*lanes=*/1);
  LinearIndex row =
      inside.atom(rowBlock, tiling.rowBlocks) * tiling.blockRows +
      inside.atom(tile, tiling.blockRows / tiling.tileRows) * tiling.tileRows;
  LinearIndex column = inside.atom(panel, tiling.panels) * tiling.panel;
  auto prefetch = [&](const LinearIndex &row, const LinearIndex &column) {
    prefetchOutputs(code, target, inside, resultIndices(inside, row, column));
  };
  // One line for each column, or as many as vectors for each row.
  if (alongRows)
    return emitLoop(constant(tiling.panel), [&](Value inPanel) {
      prefetch(row, column + inside.atom(inPanel, tiling.panel));
    });
  emitLoop(constant(tiling.tileRows), [&](Value inTile) {
    for (int64_t vector = 0; vector < tiling.vectors; ++vector)
      prefetch(row + inside.atom(inTile, tiling.tileRows),
               column + vector * tiling.lanes);
  });
}

void ContractionEmitter::fillStepTable(Value firstStep, Value stepsHere) {
  Value count = stepsHere;
  if (padded) // Reads whole vectors of the tables.
    count = arith::MulIOp::create(
        builder,
        arith::CeilDivUIOp::create(builder, stepsHere, constant(tiling.lanes)),
        constant(tiling.lanes));
  emitLoop(count, [&](Value step) {
    IndexEmitter inside(builder, 1);
    Value global = arith::AddIOp::create(builder, firstStep, step);
    if (padded) {
      global =
          arith::MinSIOp::create(builder, global, constant(tiling.steps - 1));
      padded->setStep(step, global);
    }
    LinearIndex at =
        operandOffset(shape.reduced, inside.atom(global, tiling.steps),
                      /*right=*/false, inside);
    Value offset = inside.materialize(inside.simplify(at));
    memref::StoreOp::create(builder, offset, stepTable, step);
  });
}

void ContractionEmitter::emitTiles(Value block, Value stepsHere) {
  Value tiles =
      arith::CeilDivUIOp::create(builder, rowsHere, constant(tiling.tileRows));
  Value isLast = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, block,
                                       constant(tiling.stepBlocks - 1));
  emitLoop(tiles, [&](Value tile) {
    auto last = scf::IfOp::create(builder, isLast, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(last.thenBlock());
      prefetchTile(tile);
    }
    emitTile(tile, stepsHere);
  });
}

//===----------------------------------------------------------------------===//
// Inits and epilogue
//===----------------------------------------------------------------------===//

LogicalResult ContractionEmitter::forEachSum(PointEmitter emitPoint) {
  LogicalResult result = success();
  auto visitAll = [&](int64_t lanes, Value count) {
    emitLoop(rowsHere, [&](Value row) {
      emitLoop(count, [&](Value column) {
        if (failed(visitSums(row, lanes, column, emitPoint)))
          result = failure();
      });
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

/// Visits vector number \p column of \p row, or that single column.
LogicalResult ContractionEmitter::visitSums(Value row, int64_t lanes,
                                            Value column,
                                            PointEmitter emitPoint) {
  ElementEmitter emitter(builder, target.memory, lanes);
  IndexEmitter &inside = emitter.indices();
  LinearIndex rowIndex =
      inside.atom(rowBlock, tiling.rowBlocks) * tiling.blockRows +
      inside.atom(row, tiling.blockRows);
  LinearIndex columnIndex = inside.atom(panel, tiling.panels) * tiling.panel;
  Value first = column;
  if (lanes == 1) {
    columnIndex = columnIndex + inside.atom(column, tiling.panel);
  } else {
    columnIndex = columnIndex +
                  inside.atom(column, tiling.vectors) * tiling.lanes +
                  inside.lane();
    first = arith::MulIOp::create(builder, column, constant(tiling.lanes));
  }
  return emitPoint(emitter, resultIndices(inside, rowIndex, columnIndex), sums,
                   rowOfSums(row), first);
}

/// Writes the square of sums at \p firstRow and \p firstColumn column by column
/// to \p square.
void ContractionEmitter::transposeSquare(Value firstRow, Value firstColumn,
                                         Value square) {
  auto row = VectorType::get(tiling.lanes, shape.body.sumType);
  auto type = VectorType::get({tiling.lanes, tiling.lanes}, shape.body.sumType);
  Value rows = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  for (int64_t lane = 0; lane < tiling.lanes; ++lane) {
    Value at = arith::AddIOp::create(builder, firstRow, constant(lane));
    Value loaded = vector::LoadOp::create(
        builder, row, sums, ValueRange{rowOfSums(at), firstColumn});
    rows = vector::InsertOp::create(builder, loaded, rows, lane);
  }
  Value columns =
      vector::TransposeOp::create(builder, rows, ArrayRef<int64_t>{1, 0});
  for (int64_t lane = 0; lane < tiling.lanes; ++lane)
    vector::StoreOp::create(builder,
                            vector::ExtractOp::create(builder, columns, lane),
                            square, ValueRange{constant(lane), constant(0)});
}

LogicalResult ContractionEmitter::forEachSumAlongRows(PointEmitter emitPoint) {
  LogicalResult result = success();
  Value lanes = constant(tiling.lanes);
  Value square = scratch({tiling.lanes, tiling.lanes}, shape.body.sumType);
  Value firstPanelColumn =
      arith::MulIOp::create(builder, panel, constant(tiling.panel));
  Value columnsHere = arith::SubIOp::create(builder, constant(tiling.columns),
                                            firstPanelColumn);
  columnsHere =
      arith::MinSIOp::create(builder, columnsHere, constant(tiling.panel));
  auto visitColumn = [&](Value rowVector, Value vector, Value column) {
    ElementEmitter emitter(builder, target.memory, tiling.lanes);
    IndexEmitter &inside = emitter.indices();
    LinearIndex row =
        inside.atom(rowBlock, tiling.rowBlocks) * tiling.blockRows +
        inside.atom(rowVector, tiling.blockRows / tiling.lanes) * tiling.lanes +
        inside.lane();
    LinearIndex at = inside.atom(panel, tiling.panels) * tiling.panel +
                     inside.atom(vector, tiling.vectors) * tiling.lanes +
                     inside.atom(column, tiling.lanes);
    if (failed(emitPoint(emitter, resultIndices(inside, row, at), square,
                         column, constant(0))))
      result = failure();
  };
  Value rowVectors = arith::DivUIOp::create(builder, rowsHere, lanes);
  emitLoop(rowVectors, [&](Value rowVector) {
    Value firstRow = arith::MulIOp::create(builder, rowVector, lanes);
    emitLoop(constant(tiling.vectors), [&](Value vector) {
      Value firstColumn = arith::MulIOp::create(builder, vector, lanes);
      transposeSquare(firstRow, firstColumn, square);
      Value count = arith::SubIOp::create(builder, columnsHere, firstColumn);
      emitLoop(arith::MinSIOp::create(builder, count, lanes),
               [&](Value column) { visitColumn(rowVector, vector, column); });
    });
  });
  Value done = arith::MulIOp::create(builder, rowVectors, lanes);
  emitLoop(arith::SubIOp::create(builder, rowsHere, done), [&](Value left) {
    Value row = arith::AddIOp::create(builder, done, left);
    emitLoop(columnsHere, [&](Value column) {
      if (failed(visitSums(row, /*lanes=*/1, column, emitPoint)))
        result = failure();
    });
  });
  return result;
}

LogicalResult ContractionEmitter::emitInits() {
  Value init = op.getDpsInits().front();
  return forEachSum([&](ElementEmitter &emitter, ArrayRef<LinearIndex> at,
                        Value scratch, Value row,
                        Value column) -> LogicalResult {
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
      vector::StoreOp::create(builder, element, scratch,
                              ValueRange{row, column});
    else
      memref::StoreOp::create(builder, element, scratch,
                              ValueRange{row, column});
    return success();
  });
}

LogicalResult ContractionEmitter::emitEpilogue() {
  Value result = op->getResult(0);
  auto emitPoint = [&](ElementEmitter &emitter, ArrayRef<LinearIndex> at,
                       Value scratch, Value row, Value column) {
    Type type = shape.body.sumType;
    Type resultType = getElementTypeOrSelf(result.getType());
    Value sum;
    int64_t lanes = emitter.indices().getLanes();
    if (lanes == 1) {
      sum = memref::LoadOp::create(builder, scratch, ValueRange{row, column});
    } else {
      resultType = VectorType::get(lanes, resultType);
      sum = vector::LoadOp::create(builder, VectorType::get(lanes, type),
                                   scratch, ValueRange{row, column});
    }
    if (sum.getType() != resultType)
      sum = arith::TruncFOp::create(builder, resultType, sum);
    emitter.setElement(result, sum);
    return emitOutputs(code, target, emitter, at);
  };
  return alongRows ? forEachSumAlongRows(emitPoint) : forEachSum(emitPoint);
}

void ContractionEmitter::forEachPanel(llvm::function_ref<void()> body) {
  Value count = constant(tiling.groupPanels);
  if (tiling.panels % tiling.groupPanels != 0)
    count = arith::MinSIOp::create(
        builder, count,
        arith::SubIOp::create(builder, constant(tiling.panels), firstPanel));
  emitLoop(count, [&](Value inGroup) {
    panel = arith::AddIOp::create(builder, firstPanel, inGroup);
    panelSums =
        arith::MulIOp::create(builder, inGroup, constant(tiling.blockRows));
    body();
  });
}

LogicalResult ContractionEmitter::emit() {
  SmallVector<LinearIndex> place = delinearize(
      index.atom(target.task, tiling.batch * tiling.rowBlocks * tiling.groups),
      {tiling.batch, tiling.rowBlocks, tiling.groups}, index);
  batch = index.materialize(place[0]);
  rowBlock = index.materialize(place[1]);
  firstPanel = index.materialize(place[2] * tiling.groupPanels);
  firstRow = index.materialize(place[1] * tiling.blockRows);
  Value rest = arith::SubIOp::create(builder, constant(tiling.rows), firstRow);
  rowsHere = arith::MinSIOp::create(builder, rest, constant(tiling.blockRows));
  leftFlat = target.memory.lookup(shape.left.tensor);
  leftBatch = index.materialize(
      operandOffset(shape.batch, place[0], /*right=*/false, index) +
      shape.left.offset);
  packed.emplace(
      builder, shape, tiling, target.memory,
      scratch({tiling.blockSteps, tiling.panel}, shape.body.sumType));
  sums = scratch({tiling.groupPanels * tiling.blockRows, tiling.panel},
                 shape.body.sumType);
  alongRows = epilogueInLanes && tiling.lanes == 16 &&
              shape.body.sumType.isF32() && areNeighbours(/*rows=*/true) &&
              !areNeighbours(/*rows=*/false);
  rowTable = scratch({tiling.blockRows}, builder.getIndexType());
  bool isPadded = shape.hasBorders(/*right=*/false);
  int64_t tableSteps = tiling.blockSteps;
  if (isPadded)
    tableSteps = llvm::alignTo(tableSteps, tiling.lanes);
  stepTable = scratch({tableSteps}, builder.getIndexType());
  if (isPadded)
    padded.emplace(builder, shape, tiling, stepTable,
                   [&](ArrayRef<int64_t> extents, Type element) {
                     return scratch(extents, element);
                   });
  fillRowTable();
  LogicalResult result = success();
  forEachPanel([&] { result = emitInits(); });
  if (failed(result))
    return failure();
  emitLoop(constant(tiling.stepBlocks), [&](Value block) {
    Value firstStep =
        arith::MulIOp::create(builder, block, constant(tiling.blockSteps));
    Value rest =
        arith::SubIOp::create(builder, constant(tiling.steps), firstStep);
    Value stepsHere =
        arith::MinSIOp::create(builder, rest, constant(tiling.blockSteps));
    fillStepTable(firstStep, stepsHere);
    forEachPanel([&] {
      packed->pack({batch, panel, firstStep, stepsHere});
      emitTiles(block, stepsHere);
    });
  });
  forEachPanel([&] { result = emitEpilogue(); });
  return result;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Whether \p op is the gradient of a weight that is better made as its
/// transpose. Its inits are then written in vectors along the columns, which
/// only one value for all allows.
static bool isBetterTransposed(linalg::LinalgOp op,
                               const ContractionShape &shape, int64_t lanes) {
  return shape.body.sumType.isF32() && shape.borders.empty() &&
         op.getDpsInits().front().getDefiningOp<linalg::FillOp>() &&
         shape.rows.isContiguous(/*right=*/false) &&
         shape.columns.isContiguous(/*right=*/true) &&
         prefersTranspose(extentsOf(shape), lanes);
}

LogicalResult ckpt::emitContractionKernel(KernelCode &code, int64_t lanes,
                                          bool threads, SymbolTable &symbols) {
  auto op = cast<linalg::LinalgOp>(code.anchor);
  std::optional<ContractionShape> shape = matchContractionShape(code, op);
  if (!shape || shape->reduced.getExtent() == 0 ||
      cast<ShapedType>(op->getResult(0).getType()).getNumElements() == 0)
    return emitReductionKernel(code, lanes, symbols);
  if (isBetterTransposed(op, *shape, lanes))
    shape->transpose();
  Tiling tiling = tilingOf(*shape, lanes, threads, hasLongSums(op));
  bool inLanes = lanes > 1 && supportsLanes(code.function.front());
  auto emit = [&](TaskTarget &target) {
    return ContractionEmitter(code, *shape, tiling, inLanes, target).emit();
  };
  int64_t work = tiling.batch * tiling.rows * tiling.columns *
                 (tiling.steps / 8 + workPerElement(code));
  return emitTasks(
      code, {tiling.batch * tiling.rowBlocks * tiling.groups, work, emit},
      symbols);
}
