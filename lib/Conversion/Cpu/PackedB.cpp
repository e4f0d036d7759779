//===- PackedB.cpp - A packed panel of the right operand ------------------===//

#include "Conversion/Cpu/PackedB.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace ckpt;
using namespace mlir;

Value PackedB::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value PackedB::load(Value step, int64_t vector) {
  auto type = VectorType::get(tiling.lanes, shape.body.sumType);
  return vector::LoadOp::create(
      builder, type, packed, ValueRange{step, constant(vector * tiling.lanes)});
}

/// Whether columns are neighbours in memory along their innermost loop, but not
/// all columns of a vector: one run of them ends, or padding begins.
bool PackedB::isInRuns(bool full) const {
  const StridedLoop &inner = shape.columns.parts.back();
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  if (element != shape.body.sumType || inner.rightStride != 1 ||
      !hasMaskedReads(element, tiling.lanes))
    return false;
  for (auto [border, stride] :
       llvm::zip_equal(shape.borders, inner.borderStrides))
    if (border.isRight && stride != 0 && stride != 1)
      return false;
  return shape.hasBorders(/*right=*/true) || !full ||
         inner.extent % tiling.lanes != 0;
}

/// Vector number \p vector of the panel at \p step, by one access for each run
/// that reaches into it.
Value PackedB::loadRuns(const Block &block, Value step, int64_t vector,
                        bool full) {
  IndexEmitter index(builder, /*lanes=*/1);
  int64_t extent = shape.columns.parts.back().extent;
  LinearIndex column = index.atom(block.panel, tiling.panels) * tiling.panel +
                       vector * tiling.lanes;
  auto [run, inRun] = divideIndex(column, extent, index);
  // The last of a run's columns that a vector can begin at.
  int64_t last = extent - std::gcd(extent, tiling.lanes);
  int64_t runs = std::min<int64_t>(
      llvm::divideCeil(last + tiling.lanes, extent), tiling.columns / extent);
  auto type = VectorType::get(tiling.lanes, shape.body.sumType);
  Value elements =
      arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  for (int64_t number = 0; number < runs; ++number) {
    OperandPoint start = {index.atom(block.batch, tiling.batch),
                          (run + number) * extent,
                          index.atom(step, tiling.steps)};
    LinearIndex firstLane = LinearIndex(number * extent) - inRun;
    LinearIndex endLane = firstLane + extent;
    Value end = index.materialize(endLane);
    if (!full)
      end = arith::MinSIOp::create(
          builder, end,
          index.materialize(LinearIndex(tiling.columns) - column));
    elements = loadRun(start, firstLane, end, elements, index);
  }
  return elements;
}

/// The run that begins at \p start, in lanes from \p firstLane to below \p
/// endLane: zero in padding, \p others in all other lanes.
Value PackedB::loadRun(const OperandPoint &start, const LinearIndex &firstLane,
                       Value endLane, Value others, IndexEmitter &index) {
  auto offset = [&](auto offsetOf) {
    return offsetOf(shape.batch, start.batch) +
           offsetOf(shape.columns, start.outer) +
           offsetOf(shape.reduced, start.step);
  };
  Value begin = index.materialize(firstLane), end = endLane;
  for (auto [number, border] : llvm::enumerate(shape.borders)) {
    if (!border.isRight)
      continue;
    LinearIndex coordinate =
        offset([&, number = number](const LoopGroup &group, LinearIndex at) {
          return borderOffset(group, at, number, index);
        }) +
        border.first;
    if (shape.columns.parts.back().borderStrides[number] == 1) {
      LinearIndex first = firstLane - coordinate;
      begin = arith::MaxSIOp::create(builder, begin, index.materialize(first));
      end = arith::MinSIOp::create(builder, end,
                                   index.materialize(first + border.extent));
    } else if (Value inside =
                   index.clamp(coordinate, {0, border.extent}).inside) {
      end = arith::SelectOp::create(builder, inside, end, begin);
    }
  }
  LinearIndex position =
      offset([&](const LoopGroup &group, LinearIndex at) {
        return operandOffset(group, at, /*right=*/true, index);
      }) +
      shape.right.offset - firstLane;
  return vector::MaskedLoadOp::create(
      builder, others.getType(), flat,
      index.materialize(index.simplify(position)),
      index.lanesBetween(begin, end, tiling.lanes), others);
}

/// The same where columns are neighbours, or by an address for each lane.
Value PackedB::loadLanes(const Block &block, Value step, int64_t vector,
                         bool full) {
  ElementEmitter emitter(builder, memory, tiling.lanes);
  IndexEmitter &inside = emitter.indices();
  OperandPoint point;
  point.batch = inside.atom(block.batch, tiling.batch);
  point.step = inside.atom(step, tiling.steps);
  point.outer = inside.atom(block.panel, tiling.panels) * tiling.panel +
                vector * tiling.lanes + inside.lane();
  if (!full) // Sums of columns past the end have no reader.
    point.outer = inside.clamp(point.outer, {0, tiling.columns}).index;
  OperandPlace place = operandPlace(shape, /*right=*/true, point, emitter);
  Value elements = emitter.orZero(
      place.inside, emitter.broadcast(emitter.load(flat, place.position)));
  auto type = VectorType::get(tiling.lanes, shape.body.sumType);
  return elements.getType() == type
             ? elements
             : arith::ExtFOp::create(builder, type, elements);
}

void PackedB::packStep(const Block &block, Value step, bool full) {
  Value global = arith::AddIOp::create(builder, block.firstStep, step);
  for (int64_t vector = 0; vector < tiling.vectors; ++vector) {
    Value elements = isInRuns(full) ? loadRuns(block, global, vector, full)
                                    : loadLanes(block, global, vector, full);
    vector::StoreOp::create(builder, elements, packed,
                            ValueRange{step, constant(vector * tiling.lanes)});
  }
}

/// Whether the reduced dimension is contiguous, and the columns are not.
bool PackedB::isTransposed() const {
  return tiling.lanes == 16 && Type(shape.body.sumType).isF32() &&
         !shape.hasBorders(/*right=*/true) && shape.reduced.parts.size() == 1 &&
         shape.reduced.parts.front().rightStride == 1 &&
         shape.columns.parts.back().rightStride != 1;
}

/// Then squares of as many steps as lanes are loaded along the steps and
/// transposed in registers.
void PackedB::packSquare(const Block &block, Value square, bool full) {
  Value step = arith::MulIOp::create(builder, square, constant(tiling.lanes));
  Value global = arith::AddIOp::create(builder, block.firstStep, step);
  auto narrow = VectorType::get(
      tiling.lanes, cast<MemRefType>(flat.getType()).getElementType());
  auto row = VectorType::get(tiling.lanes, shape.body.sumType);
  auto type = VectorType::get({tiling.lanes, tiling.lanes}, shape.body.sumType);
  for (int64_t vector = 0; vector < tiling.vectors; ++vector) {
    ElementEmitter emitter(builder, memory, /*lanes=*/1);
    IndexEmitter &inside = emitter.indices();
    OperandPoint point;
    point.batch = inside.atom(block.batch, tiling.batch);
    point.step = inside.atom(global, tiling.steps);
    Value elements =
        arith::ConstantOp::create(builder, builder.getZeroAttr(type));
    for (int64_t lane = 0; lane < tiling.lanes; ++lane) {
      point.outer = inside.atom(block.panel, tiling.panels) * tiling.panel +
                    (vector * tiling.lanes + lane);
      if (!full)
        point.outer = inside.clamp(point.outer, {0, tiling.columns}).index;
      OperandPlace place = operandPlace(shape, /*right=*/true, point, emitter);
      Value loaded = vector::LoadOp::create(builder, narrow, flat,
                                            inside.materialize(place.position));
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

void PackedB::packSteps(const Block &block, bool full) {
  auto emitLoop = [&](Value end, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(builder, constant(0), end, constant(1));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  };
  Value first = constant(0);
  if (isTransposed()) {
    Value lanes = constant(tiling.lanes);
    Value squares = arith::DivUIOp::create(builder, block.steps, lanes);
    emitLoop(squares, [&](Value square) { packSquare(block, square, full); });
    first = arith::MulIOp::create(builder, squares, lanes);
  }
  Value rest = arith::SubIOp::create(builder, block.steps, first);
  emitLoop(rest, [&](Value counter) {
    packStep(block, arith::AddIOp::create(builder, counter, first), full);
  });
}

void PackedB::pack(const Block &block) {
  if (tiling.columns % tiling.panel == 0)
    return packSteps(block, /*full=*/true);
  Value isFull =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, block.panel,
                            constant(tiling.panels - 1));
  auto choice = scf::IfOp::create(builder, isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  packSteps(block, /*full=*/true);
  builder.setInsertionPointToStart(choice.elseBlock());
  packSteps(block, /*full=*/false);
}
