//===- LibraryMatmul.cpp - Kernels that a library could run ---------------===//

#include "LibraryMatmul.h"
#include "ContractionShape.h"
#include "mlir/IR/Matchers.h"
#include <climits>

using namespace ckpt;
using namespace mlir;

/// Where every buffer begins at a multiple of (see GpuThread::elements).
static constexpr int64_t alignmentBytes = 16;

namespace {
/// A counter in parts, outer to inner: the extent and stride of each.
using Parts = SmallVector<std::pair<int64_t, int64_t>>;

/// A matrix in memory, by the strides of its rows, columns and batches.
struct Strides {
  int64_t row, column, batch;
};
} // namespace

/// The only stride that \p parts have as one counter; 0 if it does not move.
static std::optional<int64_t> strideOf(const Parts &parts) {
  std::optional<int64_t> stride;
  int64_t next = 0;
  for (auto [extent, here] : llvm::reverse(parts)) {
    if (extent == 1)
      continue;
    if (stride && here != next)
      return std::nullopt;
    if (!stride)
      stride = here;
    next = here * extent;
  }
  return stride.value_or(0);
}

static Parts operandParts(const LoopGroup &group, bool right) {
  Parts parts;
  for (const StridedLoop &part : group.parts)
    parts.push_back({part.extent, right ? part.rightStride : part.leftStride});
  return parts;
}

/// Where the loops of \p group take the result of \p op.
static Parts resultParts(const LoopGroup &group, linalg::LinalgOp op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Parts parts;
  for (auto [loop, extent] : llvm::zip_equal(group.loops, group.extents)) {
    unsigned dim =
        *map.getResultPosition(getAffineDimExpr(loop, type.getContext()));
    parts.push_back({extent, ShapedType::getNumElements(
                                 type.getShape().drop_front(dim + 1))});
  }
  return parts;
}

static std::optional<Strides> stridesOf(const Parts &rows, const Parts &columns,
                                        const Parts &batch) {
  auto row = strideOf(rows), column = strideOf(columns),
       matrix = strideOf(batch);
  if (!row || !column || !matrix)
    return std::nullopt;
  return Strides{*row, *column, *matrix};
}

static std::optional<int64_t> elementTypeOf(Type type) {
  if (type.isF32())
    return cuda::float32;
  if (type.isF16())
    return cuda::float16;
  if (type.isBF16())
    return cuda::bfloat16;
  return std::nullopt;
}

/// A matrix of \p rows x \p columns in \p argument. One side has to be
/// contiguous, and rows may not overlap.
static std::optional<cuda::MatmulOperand>
makeOperand(BlockArgument argument, int64_t offset, const Strides &strides,
            int64_t rows, int64_t columns) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  auto element =
      type ? elementTypeOf(type.getElementType()) : std::optional<int64_t>();
  if (!element)
    return std::nullopt;
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  cuda::MatmulOperand operand = {};
  operand.argument = argument.getArgNumber();
  operand.argumentBytes = type.getNumElements() * elementBytes;
  operand.offset = offset * elementBytes;
  operand.elementType = *element;
  operand.batchStride = strides.batch;
  if (strides.column == 1 && strides.row >= columns) {
    operand.leadingDimension = strides.row;
  } else if (strides.row == 1 && strides.column >= rows) {
    operand.isTransposed = 1;
    operand.leadingDimension = strides.column;
  } else {
    return std::nullopt;
  }
  if (operand.offset % alignmentBytes != 0 || operand.batchStride < 0)
    return std::nullopt;
  return operand;
}

/// The argument that holds \p tensor.
static std::optional<BlockArgument>
argumentOf(ArrayRef<std::pair<Value, BlockArgument>> held, Value tensor) {
  for (auto [value, argument] : held)
    if (value == tensor)
      return argument;
  return std::nullopt;
}

/// Whether \p value is +0 everywhere.
static bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs().front();
  return matchPattern(value, m_PosZeroFloat());
}

/// The argument that takes the result of the anchor, if that is all that the
/// kernel writes. A reshape moves nothing.
static std::optional<BlockArgument> onlyOutput(const KernelCode &code) {
  if (code.outputs.size() != 1)
    return std::nullopt;
  auto [tensor, argument] = code.outputs.front();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  if (tensor.getDefiningOp() != code.anchor)
    return std::nullopt;
  return argument;
}

std::optional<cuda::MatmulShape> ckpt::matchLibraryMatmul(KernelCode &code) {
  auto op = dyn_cast_or_null<linalg::LinalgOp>(code.anchor);
  if (!op || !matchContraction(op) || !isZero(op.getDpsInits().front()))
    return std::nullopt;
  std::optional<ContractionShape> shape = matchContractionShape(code, op);
  std::optional<BlockArgument> out = onlyOutput(code);
  if (!shape || !out || !shape->body.sumType.isF32())
    return std::nullopt;
  auto left = argumentOf(code.inputs, shape->left.tensor);
  auto right = argumentOf(code.inputs, shape->right.tensor);
  if (!left || !right ||
      code.function.getNumArguments() != (*left == *right ? 2 : 3))
    return std::nullopt;

  cuda::MatmulShape matmul = {};
  matmul.rows = shape->rows.getExtent();
  matmul.columns = shape->columns.getExtent();
  matmul.steps = shape->reduced.getExtent();
  matmul.batches = shape->batch.getExtent();
  // With one row or step the output could lie over an operand, and none of it
  // is worth a library.
  if (matmul.rows < 2 || matmul.columns < 2 || matmul.steps < 2 ||
      matmul.batches < 1 || matmul.batches > INT_MAX)
    return std::nullopt;
  auto leftStrides = stridesOf(operandParts(shape->rows, false),
                               operandParts(shape->reduced, false),
                               operandParts(shape->batch, false));
  auto rightStrides = stridesOf(operandParts(shape->reduced, true),
                                operandParts(shape->columns, true),
                                operandParts(shape->batch, true));
  auto outStrides =
      stridesOf(resultParts(shape->rows, op), resultParts(shape->columns, op),
                resultParts(shape->batch, op));
  if (!leftStrides || !rightStrides || !outStrides)
    return std::nullopt;
  auto leftOperand = makeOperand(*left, shape->left.offset, *leftStrides,
                                 matmul.rows, matmul.steps);
  auto rightOperand = makeOperand(*right, shape->right.offset, *rightStrides,
                                  matmul.steps, matmul.columns);
  auto outOperand =
      makeOperand(*out, /*offset=*/0, *outStrides, matmul.rows, matmul.columns);
  if (!leftOperand || !rightOperand || !outOperand ||
      outOperand->isTransposed ||
      leftOperand->elementType != rightOperand->elementType ||
      (outOperand->elementType != cuda::float32 &&
       outOperand->elementType != leftOperand->elementType))
    return std::nullopt;
  matmul.left = *leftOperand;
  matmul.right = *rightOperand;
  matmul.out = *outOperand;
  return matmul;
}
