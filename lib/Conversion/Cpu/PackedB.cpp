//===- PackedB.cpp - A packed panel of the right operand ------------------===//

#include "Conversion/Cpu/PackedB.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

void PackedB::packStep(const Block &block, Value step, bool full) {
  ElementEmitter emitter(builder, memory, tiling.lanes);
  IndexEmitter &inside = emitter.indices();
  Value global = arith::AddIOp::create(builder, block.firstStep, step);
  OperandPoint point;
  point.batch = inside.atom(block.batch, tiling.batch);
  point.step = inside.atom(global, tiling.steps);
  for (int64_t vector = 0; vector < tiling.vectors; ++vector) {
    point.outer = inside.atom(block.panel, tiling.panels) * tiling.panel +
                  vector * tiling.lanes + inside.lane();
    if (!full) // Sums of columns past the end have no reader.
      point.outer = inside.clamp(point.outer, {0, tiling.columns}).index;
    OperandPlace place = operandPlace(shape, /*right=*/true, point, emitter);
    Value elements = emitter.orZero(
        place.inside, emitter.broadcast(emitter.load(flat, place.position)));
    auto type = VectorType::get(tiling.lanes, shape.body.sumType);
    if (elements.getType() != type)
      elements = arith::ExtFOp::create(builder, type, elements);
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
