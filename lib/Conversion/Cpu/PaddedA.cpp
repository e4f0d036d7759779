//===- PaddedA.cpp - The left operand behind padding ----------------------===//

#include "Conversion/Cpu/PaddedA.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace ckpt;
using namespace mlir;

/// The last part of \p group if all of it is inside or outside together.
static std::optional<StridedLoop> lastTogether(const LoopGroup &group,
                                               const ContractionShape &shape) {
  for (const StridedLoop &part : llvm::reverse(group.parts)) {
    if (part.extent == 1)
      continue;
    for (auto [border, stride] :
         llvm::zip_equal(shape.borders, part.borderStrides))
      if (!border.isRight && stride != 0)
        return std::nullopt;
    return part;
  }
  return std::nullopt;
}

/// The largest power of two from \p least on that divides \p extent, within
/// the corner; 0 if there is none.
static int64_t cornerOf(int64_t extent, int64_t least) {
  constexpr int64_t mostSteps = 64;
  for (int64_t some = mostSteps; some >= least; some /= 2)
    if (extent % some == 0)
      return some;
  return 0;
}

Neighbours ckpt::findNeighbours(const ContractionShape &shape,
                                const Tiling &tiling) {
  std::optional<StridedLoop> steps = lastTogether(shape.reduced, shape);
  std::optional<StridedLoop> rows = lastTogether(shape.rows, shape);
  if (steps && steps->leftStride == 1)
    if (int64_t corner = cornerOf(steps->extent, tiling.lanes))
      return {Neighbours::Steps, corner, corner, 1};
  if (!rows || rows->leftStride != 1 || rows->extent % tiling.tileRows != 0)
    return {Neighbours::None, tiling.lanes, 1, 0};
  int64_t corner = cornerOf(tiling.steps, /*least=*/16);
  if (corner == 0)
    corner = tiling.lanes;
  if (!steps)
    return {Neighbours::Rows, corner, 1, 0};
  return {Neighbours::Rows, corner, std::gcd(steps->extent, corner),
          steps->leftStride};
}

/// Fewer rows, if a run of neighbours is no multiple of them: six of them, as
/// in tiles for 16 registers, divide none.
static void fitTileRows(Tiling &tiling, const ContractionShape &shape) {
  constexpr int64_t fewest = 4;
  std::optional<StridedLoop> rows = lastTogether(shape.rows, shape);
  if (!rows || rows->leftStride != 1)
    return;
  for (int64_t some = tiling.tileRows; some >= fewest; --some)
    if (rows->extent % some == 0) {
      tiling.tileRows = some;
      return;
    }
}

void ckpt::fitToBorders(Tiling &tiling, const ContractionShape &shape,
                        bool isLong) {
  fitTileRows(tiling, shape);
  Neighbours neighbours = findNeighbours(shape, tiling);
  if (!isLong && neighbours.along != Neighbours::None) {
    tiling.blockSteps = llvm::alignTo(tiling.blockSteps, neighbours.steps);
    tiling.stepBlocks = llvm::divideCeil(tiling.steps, tiling.blockSteps);
  }
  tiling.blockRows = llvm::alignDown(tiling.blockRows, tiling.tileRows);
  tiling.rowBlocks = llvm::divideCeil(tiling.rows, tiling.blockRows);
}

PaddedA::PaddedA(ImplicitLocOpBuilder &builder, const ContractionShape &shape,
                 const Tiling &tiling, Value stepOffsets, Scratch scratch)
    : builder(builder), shape(shape), tiling(tiling),
      neighbours(findNeighbours(shape, tiling)), stepOffsets(stepOffsets) {
  int64_t lines = tiling.tileRows, columns = cornerSteps();
  if (neighbours.along == Neighbours::Rows)
    std::swap(lines, columns);
  corner = scratch({lines, columns}, shape.body.sumType);
  int64_t steps = llvm::alignTo(tiling.blockSteps, tiling.lanes);
  for (auto [number, border] : llvm::enumerate(shape.borders))
    if (!border.isRight)
      tables.push_back({number,
                        scratch({tiling.blockRows}, builder.getI32Type()),
                        scratch({steps}, builder.getI32Type())});
}

bool PaddedA::isAlwaysFull() const {
  return tiling.steps % cornerSteps() == 0 &&
         tiling.blockSteps % cornerSteps() == 0;
}

Value PaddedA::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void PaddedA::set(Value table, Value at, const LinearIndex &coordinate,
                  IndexEmitter &index) {
  Value value =
      arith::IndexCastOp::create(builder, builder.getI32Type(),
                                 index.materialize(index.simplify(coordinate)));
  memref::StoreOp::create(builder, value, table, at);
}

void PaddedA::setRow(Value row, Value global, Value batch) {
  IndexEmitter index(builder, 1);
  for (const Table &table : tables)
    set(table.ofRows, row,
        borderOffset(shape.rows, index.atom(global, tiling.rows), table.border,
                     index) +
            borderOffset(shape.batch, index.atom(batch, tiling.batch),
                         table.border, index) +
            shape.borders[table.border].first,
        index);
}

void PaddedA::setStep(Value step, Value global) {
  IndexEmitter index(builder, 1);
  for (const Table &table : tables)
    set(table.ofSteps, step,
        borderOffset(shape.reduced, index.atom(global, tiling.steps),
                     table.border, index),
        index);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Whether \p step is inside: a coordinate below zero is a large one.
Value PaddedA::insideOne(Value row, Value step) {
  Value inside;
  for (const Table &table : tables) {
    Value coordinate = arith::AddIOp::create(
        builder, memref::LoadOp::create(builder, table.ofRows, row),
        memref::LoadOp::create(builder, table.ofSteps, step));
    Value extent = arith::ConstantIntOp::create(
        builder, shape.borders[table.border].extent, 32);
    Value here = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                       coordinate, extent);
    inside =
        inside ? Value(arith::AndIOp::create(builder, inside, here)) : here;
  }
  return inside;
}

/// The same of a vector of steps from \p step on.
Value PaddedA::insideLanes(Value row, Value step) {
  auto type = VectorType::get(tiling.lanes, builder.getI32Type());
  Value inside;
  for (const Table &table : tables) {
    Value ofRow = vector::BroadcastOp::create(
        builder, type, memref::LoadOp::create(builder, table.ofRows, row));
    Value coordinate = arith::AddIOp::create(
        builder, ofRow,
        vector::LoadOp::create(builder, type, table.ofSteps, step));
    Value extent = arith::ConstantOp::create(
        builder,
        DenseElementsAttr::get(type, builder.getI32IntegerAttr(
                                         shape.borders[table.border].extent)));
    Value here = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                       coordinate, extent);
    inside =
        inside ? Value(arith::AndIOp::create(builder, inside, here)) : here;
  }
  return inside;
}

/// Writes \p elements to \p line of the corner.
void PaddedA::store(Value elements, Value line, int64_t first) {
  auto type = cast<VectorType>(elements.getType()).clone(shape.body.sumType);
  if (elements.getType() != type)
    elements = arith::ExtFOp::create(builder, type, elements);
  vector::StoreOp::create(builder, elements, corner,
                          ValueRange{line, constant(first)});
}

Value PaddedA::isInside(const TileRows &rows, Value step) {
  constexpr int64_t mostTests = 8;
  bool alongSteps = neighbours.along == Neighbours::Steps;
  if (neighbours.along == Neighbours::None || !isAlwaysFull() ||
      cornerSteps() / neighbours.run > mostTests)
    return Value();
  Value inside;
  auto require = [&](Value row, Value step) {
    Value here = insideOne(row, step);
    inside =
        inside ? Value(arith::AndIOp::create(builder, inside, here)) : here;
  };
  if (alongSteps)
    for (Value row : rows.numbers)
      require(row, step);
  else
    for (int64_t run = 0; run < cornerSteps(); run += neighbours.run)
      require(rows.numbers.front(),
              arith::AddIOp::create(builder, step, constant(run)));
  return inside;
}

/// The steps of a row. Instead of steps outside, others are read for nothing.
void PaddedA::bringRow(const TileRows &rows, int64_t inTile, Value step) {
  Value inside = insideOne(rows.numbers[inTile], step);
  Value at =
      arith::AddIOp::create(builder, rows.offsets[inTile],
                            memref::LoadOp::create(builder, stepOffsets, step));
  at = arith::SelectOp::create(builder, inside, at, constant(0));
  auto type = VectorType::get(
      tiling.lanes, cast<MemRefType>(rows.flat.getType()).getElementType());
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  for (int64_t first = 0; first < cornerSteps(); first += tiling.lanes) {
    Value here = arith::AddIOp::create(builder, at, constant(first));
    Value elements = vector::LoadOp::create(builder, type, rows.flat, here);
    store(arith::SelectOp::create(builder, inside, elements, zero),
          constant(inTile), first);
  }
}

/// The rows of a run of steps, in the same way.
void PaddedA::bringRun(const TileRows &rows, Value step, Value inCorner) {
  Value inside = insideOne(rows.numbers.front(), step);
  Value at =
      arith::AddIOp::create(builder, rows.offsets.front(),
                            memref::LoadOp::create(builder, stepOffsets, step));
  at = arith::SelectOp::create(builder, inside, at, constant(0));
  auto type = VectorType::get(
      tiling.tileRows, cast<MemRefType>(rows.flat.getType()).getElementType());
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  for (int64_t number = 0; number < neighbours.run; ++number) {
    Value here = arith::AddIOp::create(builder, at,
                                       constant(number * neighbours.stride));
    Value line = arith::AddIOp::create(builder, inCorner, constant(number));
    Value elements = vector::LoadOp::create(builder, type, rows.flat, here);
    store(arith::SelectOp::create(builder, inside, elements, zero), line, 0);
  }
}

/// Some steps of a row, wherever they are.
void PaddedA::gatherRow(const TileRows &rows, int64_t inTile, Value step) {
  auto memory = cast<MemRefType>(rows.flat.getType());
  auto indices = VectorType::get(tiling.lanes, builder.getIndexType());
  Value at = arith::AddIOp::create(
      builder,
      vector::BroadcastOp::create(builder, indices, rows.offsets[inTile]),
      vector::LoadOp::create(builder, indices, stepOffsets, step));
  if (memory.getNumElements() <= INT32_MAX) // Narrow indices gather faster.
    at = arith::IndexCastOp::create(
        builder, VectorType::get(tiling.lanes, builder.getI32Type()), at);
  auto type = VectorType::get(tiling.lanes, memory.getElementType());
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  store(vector::GatherOp::create(builder, type, rows.flat,
                                 ValueRange{constant(0)}, at,
                                 insideLanes(rows.numbers[inTile], step), zero),
        constant(inTile), 0);
}

void PaddedA::bring(const TileRows &rows, Value step, Value count) {
  if (neighbours.along == Neighbours::Rows) {
    auto loop = scf::ForOp::create(builder, constant(0), count,
                                   constant(neighbours.run));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value inCorner = loop.getInductionVar();
    bringRun(rows, arith::AddIOp::create(builder, step, inCorner), inCorner);
    return;
  }
  for (int64_t row = 0; row < tiling.tileRows; ++row)
    if (neighbours.along == Neighbours::Steps)
      bringRow(rows, row, step);
    else
      gatherRow(rows, row, step);
}

Value PaddedA::load(int64_t inTile, Value step) {
  Value row = constant(inTile);
  return memref::LoadOp::create(builder, corner,
                                neighbours.along == Neighbours::Rows
                                    ? ValueRange{step, row}
                                    : ValueRange{row, step});
}
