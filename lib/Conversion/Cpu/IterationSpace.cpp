//===- IterationSpace.cpp - Loops over the elements of a shape ------------===//

#include "Conversion/Cpu/IterationSpace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

/// Work that is worth handing to another thread.
static constexpr int64_t workPerTask = 1 << 16;

IterationSpace::IterationSpace(ArrayRef<int64_t> shape, int64_t lanes,
                               int64_t workPerElement)
    : shape(shape), lanes(lanes) {
  int64_t total = ShapedType::getNumElements(shape);
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent != 1)
      innerDim = dim;
  if (innerDim >= 0)
    inner = shape[innerDim];
  if (inner < lanes && total >= lanes) {
    innerDim = -1;
    inner = total;
  }
  if (innerDim < 0)
    innerDim = -1, inner = total;
  // A single long row is cut where that leaves no remainders.
  if (inner == total && inner * workPerElement > 2 * workPerTask)
    for (int64_t block = 8192; block >= lanes; block /= 2)
      if (inner % block == 0) {
        blocks = inner / block;
        break;
      }
  inner /= blocks;
  rows = inner == 0 ? 0 : total / inner;
  rowsPerTask = std::clamp<int64_t>(
      workPerTask / std::max<int64_t>(1, inner * workPerElement), 1,
      std::max<int64_t>(1, rows));
  tasks = std::max<int64_t>(1, llvm::divideCeil(rows, rowsPerTask));
}

SmallVector<LinearIndex>
IterationSpace::coordinates(ElementEmitter &emitter, const LinearIndex &row,
                            const LinearIndex &inner) const {
  if (innerDim < 0)
    return delinearize(row * this->inner + inner, shape, emitter.indices());
  SmallVector<int64_t> rowShape(shape);
  rowShape.erase(rowShape.begin() + innerDim);
  rowShape.push_back(blocks);
  SmallVector<LinearIndex> at = delinearize(row, rowShape, emitter.indices());
  LinearIndex block = at.pop_back_val();
  at.insert(at.begin() + innerDim, block * this->inner + inner);
  return at;
}

LogicalResult IterationSpace::emitRow(
    TaskTarget &target, Value row,
    llvm::function_ref<LogicalResult(ElementEmitter &, ArrayRef<LinearIndex>)>
        emitPoint) const {
  ImplicitLocOpBuilder &builder = target.builder;
  OpBuilder::InsertionGuard guard(builder);
  auto emitOne = [&](Value counter, int64_t vectors, int64_t width,
                     int64_t begin) {
    ElementEmitter emitter(builder, target.memory, width);
    emitter.useMasks();
    LinearIndex at = begin;
    if (counter)
      at = at + emitter.indices().atom(counter, vectors) * width;
    LinearIndex rowIndex =
        rows == 1 ? LinearIndex(0) : emitter.indices().atom(row, rows);
    return emitPoint(
        emitter, coordinates(emitter, rowIndex, at + emitter.indices().lane()));
  };
  auto emitLoop = [&](int64_t count, int64_t width, int64_t begin) {
    if (count == 0)
      return success();
    if (count == 1)
      return emitOne(Value(), 1, width, begin);
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    Value one = arith::ConstantIndexOp::create(builder, 1);
    Value end = arith::ConstantIndexOp::create(builder, count);
    auto loop = scf::ForOp::create(builder, zero, end, one);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    return emitOne(loop.getInductionVar(), count, width, begin);
  };
  int64_t vectors = lanes > 1 ? inner / lanes : 0;
  if (failed(emitLoop(vectors, lanes, 0)))
    return failure();
  return emitLoop(inner - vectors * lanes, 1, vectors * lanes);
}

LogicalResult IterationSpace::emitLoops(
    TaskTarget &target,
    llvm::function_ref<LogicalResult(ElementEmitter &, ArrayRef<LinearIndex>)>
        emitPoint) const {
  ImplicitLocOpBuilder &builder = target.builder;
  if (rows == 0)
    return success();
  if (rows == 1)
    return emitRow(target, Value(), emitPoint);
  Value perTask = arith::ConstantIndexOp::create(builder, rowsPerTask);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  Value begin = arith::MulIOp::create(builder, target.task, perTask);
  Value end = arith::AddIOp::create(builder, begin, perTask);
  Value last = arith::ConstantIndexOp::create(builder, rows);
  end = arith::MinSIOp::create(builder, end, last);
  auto loop = scf::ForOp::create(builder, begin, end, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  return emitRow(target, loop.getInductionVar(), emitPoint);
}
