//===- KnownIntegers.cpp - Integers that only constants decide ------------===//

#include "Transforms/Loops/KnownIntegers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace ckpt;
using llvm::APInt;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;

using Index = SmallVector<int64_t>;
using Known = std::optional<APInt>;

static unsigned widthOf(Type type) {
  return type.isIndex() ? mlir::IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

/// The indices of the element with number \p number, row by row.
static Index delinearize(int64_t number, ArrayRef<int64_t> shape) {
  Index index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = number % shape[i];
    number /= shape[i];
  }
  return index;
}

static int64_t linearize(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    number = number * size + i;
  return number;
}

namespace {

/// Evaluates backwards from one value; gives up after a number of steps, since
/// values that are shared are evaluated anew for every reader.
class Evaluator {
public:
  Known scalar(Value value);
  Known element(Value tensor, ArrayRef<int64_t> index);

private:
  /// A place in the body of an elementwise op: its op and its loop indices.
  struct Point {
    linalg::GenericOp op;
    Index loops;
  };
  Known body(Value value, Point point);
  Known fold(Operation *op, unsigned result,
             llvm::function_ref<Known(Value)> valueOf);
  Known slice(tensor::ExtractSliceOp op, ArrayRef<int64_t> index);
  Known generic(linalg::GenericOp op, unsigned result, ArrayRef<int64_t> index);
  Known constant(Attribute value, ArrayRef<int64_t> index);

  int steps = 256;
};

} // namespace

Known Evaluator::fold(Operation *op, unsigned result,
                      llvm::function_ref<Known(Value)> valueOf) {
  if (op->getNumRegions() || !mlir::isMemoryEffectFree(op))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    if (!operand.getType().isIntOrIndex())
      return {};
    Known known = valueOf(operand);
    if (!known)
      return {};
    operands.push_back(mlir::IntegerAttr::get(operand.getType(), *known));
  }
  SmallVector<mlir::OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() <= result)
    return {};
  if (auto value = dyn_cast<Value>(folded[result]))
    return valueOf(value);
  if (auto integer =
          dyn_cast<mlir::IntegerAttr>(cast<Attribute>(folded[result])))
    return integer.getValue();
  return {};
}

Known Evaluator::scalar(Value value) {
  if (!value.getType().isIntOrIndex() || --steps < 0)
    return {};
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  APInt constant;
  if (matchPattern(value, mlir::m_ConstantInt(&constant)))
    return constant;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Index index;
    for (Value i : extract.getIndices()) {
      Known known = scalar(i);
      if (!known)
        return {};
      index.push_back(known->getSExtValue());
    }
    return element(extract.getTensor(), index);
  }
  return fold(op, cast<OpResult>(value).getResultNumber(),
              [&](Value operand) { return scalar(operand); });
}

Known Evaluator::body(Value value, Point point) {
  if (--steps < 0)
    return {};
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == point.op.getBody()) {
    OpOperand &operand = point.op->getOpOperand(argument.getArgNumber());
    mlir::AffineMap map = point.op.getMatchingIndexingMap(&operand);
    return element(operand.get(), map.compose(point.loops));
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != point.op.getBody())
    return scalar(value);
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return APInt(widthOf(index.getType()), point.loops[index.getDim()]);
  return fold(op, cast<OpResult>(value).getResultNumber(),
              [&](Value operand) { return body(operand, point); });
}

Known Evaluator::generic(linalg::GenericOp op, unsigned result,
                         ArrayRef<int64_t> index) {
  mlir::AffineMap map = op.getIndexingMapMatchingResult(op->getResult(result));
  if (op.getNumParallelLoops() != op.getNumLoops() || !map.isPermutation())
    return op.getNumLoops() == 0 && index.empty()
               ? body(op.getBody()->getTerminator()->getOperand(result),
                      Point{op, {}})
               : Known();
  Index loops(index.size());
  for (auto [i, expr] : llvm::zip_equal(index, map.getResults()))
    loops[cast<mlir::AffineDimExpr>(expr).getPosition()] = i;
  return body(op.getBody()->getTerminator()->getOperand(result),
              Point{op, loops});
}

Known Evaluator::slice(tensor::ExtractSliceOp op, ArrayRef<int64_t> index) {
  Index source;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  size_t next = 0;
  for (auto [i, offset] : llvm::enumerate(op.getMixedOffsets())) {
    Known from = isa<Value>(offset)
                     ? scalar(cast<Value>(offset))
                     : Known(APInt(64, *mlir::getConstantIntValue(offset)));
    std::optional<int64_t> stride =
        mlir::getConstantIntValue(op.getMixedStrides()[i]);
    if (!from || !stride)
      return {};
    int64_t within = dropped[i] ? 0 : index[next++];
    source.push_back(from->getSExtValue() + within * *stride);
  }
  return element(op.getSource(), source);
}

Known Evaluator::constant(Attribute value, ArrayRef<int64_t> index) {
  auto elements = dyn_cast<mlir::DenseIntElementsAttr>(value);
  if (!elements)
    return {};
  if (elements.isSplat())
    return elements.getSplatValue<APInt>();
  int64_t number = linearize(index, elements.getType().getShape());
  return *(elements.value_begin<APInt>() + number);
}

Known Evaluator::element(Value value, ArrayRef<int64_t> index) {
  auto type = dyn_cast<mlir::RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!op || !type || !type.getElementType().isIntOrIndex() ||
      !type.hasStaticShape() || --steps < 0)
    return {};
  for (auto [i, size] : llvm::zip_equal(index, type.getShape()))
    if (i < 0 || i >= size)
      return {};
  Attribute attribute;
  if (matchPattern(value, mlir::m_Constant(&attribute)))
    return constant(attribute, index);
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    return scalar(elements.getElements()[linearize(index, type.getShape())]);
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice(extract, index);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return scalar(fill.getInputs().front());
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    auto source = cast<mlir::RankedTensorType>(op->getOperand(0).getType());
    int64_t number = linearize(index, type.getShape());
    return element(op->getOperand(0), delinearize(number, source.getShape()));
  }
  if (auto elementwise = dyn_cast<linalg::GenericOp>(op))
    return generic(elementwise, cast<OpResult>(value).getResultNumber(), index);
  return {};
}

Known ckpt::knownInteger(Value value) {
  Evaluator evaluator;
  auto type = dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!type)
    return evaluator.scalar(value);
  if (!type.hasStaticShape() || type.getNumElements() != 1)
    return {};
  return evaluator.element(value, Index(type.getRank(), 0));
}
