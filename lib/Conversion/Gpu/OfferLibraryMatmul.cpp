//===- OfferLibraryMatmul.cpp - Kernels that cuBLASLt could run -----------===//

#include "Conversion/Gpu/OfferLibraryMatmul.h"
#include "Conversion/Kernel/ContractionShape.h"
#include "mlir/IR/Matchers.h"
#include <climits>

using namespace ckpt;
using namespace mlir;

/// Every buffer begins at a multiple of it (see GpuThread::elements).
static constexpr int64_t alignmentBytes = 16;

namespace {
/// A part of a loop, by its strides in the three matrices.
struct Part {
  int64_t extent, left, right, out;
};
using Parts = SmallVector<Part>;
} // namespace

/// Whether \p outer and \p inner are one counter in the matrix of \p stride.
static bool isOne(const Part &outer, const Part &inner, int64_t Part::*stride) {
  return outer.*stride == inner.*stride * inner.extent;
}

/// The counter of \p group in as few parts as there are strides.
static Parts partsOf(const LoopGroup &group, linalg::LinalgOp op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Parts parts;
  ArrayRef<StridedLoop> left = group.parts;
  for (const auto &[loop, extent, factor] : group.digits) {
    // Sums take no place in the result.
    auto dim = map.getResultPosition(getAffineDimExpr(loop, type.getContext()));
    int64_t stride = dim ? factor * ShapedType::getNumElements(
                                        type.getShape().drop_front(*dim + 1))
                         : 0;
    for (int64_t below = extent; below > 1; left = left.drop_front()) {
      below /= left.front().extent;
      if (left.front().extent > 1)
        parts.push_back({left.front().extent, left.front().leftStride,
                         left.front().rightStride, stride * below});
    }
    while (!left.empty() && left.front().extent == 1)
      left = left.drop_front();
  }
  Parts merged;
  for (const Part &part : parts) {
    if (merged.empty() || !isOne(merged.back(), part, &Part::left) ||
        !isOne(merged.back(), part, &Part::right) ||
        !isOne(merged.back(), part, &Part::out)) {
      merged.push_back(part);
      continue;
    }
    int64_t outer = merged.back().extent;
    merged.back() = part;
    merged.back().extent *= outer;
  }
  return merged;
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

namespace {
/// The loops that make a matrix of an argument.
struct MatrixLoops {
  Part rows, columns, batches, groups;
  /// Which of the three matrices it is.
  int64_t Part::*stride;
};
} // namespace

/// The matrix at \p offset in \p argument. One side has to be contiguous, and
/// rows may not overlap.
static std::optional<cuda::MatmulOperand>
makeOperand(BlockArgument argument, int64_t offset, const MatrixLoops &loops) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  auto element =
      type ? elementTypeOf(type.getElementType()) : std::optional<int64_t>();
  if (!element)
    return std::nullopt;
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  int64_t row = loops.rows.*loops.stride, column = loops.columns.*loops.stride;
  cuda::MatmulOperand operand = {};
  operand.argument = argument.getArgNumber();
  operand.argumentBytes = type.getNumElements() * elementBytes;
  operand.offset = offset * elementBytes;
  operand.elementType = *element;
  operand.batchStride = loops.batches.*loops.stride;
  operand.groupStride = loops.groups.*loops.stride;
  if (column == 1 && row >= loops.columns.extent) {
    operand.leadingDimension = row;
  } else if (row == 1 && column >= loops.rows.extent) {
    operand.isTransposed = 1;
    operand.leadingDimension = column;
  } else {
    return std::nullopt;
  }
  if (operand.batchStride < 0 || operand.groupStride < 0 ||
      operand.offset % alignmentBytes != 0 ||
      operand.groupStride * elementBytes % alignmentBytes != 0)
    return std::nullopt;
  return operand;
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

namespace {
/// The three arguments of a kernel that is a matmul, and its loops.
struct Matmul {
  BlockArgument left, right, out;
  int64_t leftOffset, rightOffset;
  Part rows, columns, steps;
};
} // namespace

/// \p matmul as the library takes it: all of \p batch in one call, and a call
/// for each of \p group.
static std::optional<cuda::MatmulShape>
makeShape(const Matmul &matmul, const Part &batch, const Part &group) {
  auto left =
      makeOperand(matmul.left, matmul.leftOffset,
                  {matmul.rows, matmul.steps, batch, group, &Part::left});
  auto right =
      makeOperand(matmul.right, matmul.rightOffset,
                  {matmul.steps, matmul.columns, batch, group, &Part::right});
  auto out =
      makeOperand(matmul.out, /*offset=*/0,
                  {matmul.rows, matmul.columns, batch, group, &Part::out});
  if (!left || !right || !out || out->isTransposed ||
      left->elementType != right->elementType ||
      (out->elementType != cuda::float32 &&
       out->elementType != left->elementType) ||
      batch.extent > INT_MAX)
    return std::nullopt;
  return cuda::MatmulShape{matmul.rows.extent,
                           matmul.columns.extent,
                           matmul.steps.extent,
                           batch.extent,
                           group.extent,
                           *left,
                           *right,
                           *out};
}

std::optional<cuda::MatmulShape> ckpt::matchLibraryMatmul(KernelCode &code) {
  auto op = dyn_cast_or_null<linalg::LinalgOp>(code.anchor);
  if (!op || !matchContraction(op) || !isZero(op.getDpsInits().front()))
    return std::nullopt;
  std::optional<ContractionShape> shape = matchContractionShape(code, op);
  std::optional<BlockArgument> out = onlyOutput(code);
  if (!shape || !shape->borders.empty() || !out || !shape->body.sumType.isF32())
    return std::nullopt;
  // A sum of nothing has no strides to ask a library for.
  if (shape->reduced.getExtent() == 0)
    return std::nullopt;
  auto left = code.inputArgument(shape->left.tensor);
  auto right = code.inputArgument(shape->right.tensor);
  if (!left || !right ||
      code.function.getNumArguments() != (*left == *right ? 2 : 3))
    return std::nullopt;
  Parts rows = partsOf(shape->rows, op), columns = partsOf(shape->columns, op);
  Parts steps = partsOf(shape->reduced, op);
  Parts batches = partsOf(shape->batch, op);
  // With one row or step the output could lie over an operand, and none of it
  // is worth a library.
  if (rows.size() != 1 || columns.size() != 1 || steps.size() != 1 ||
      batches.size() > 2)
    return std::nullopt;
  batches.resize(2, {1, 0, 0, 0});
  if (batches[0].extent < batches[1].extent)
    std::swap(batches[0], batches[1]);
  Matmul matmul{
      *left,   *right,     *out,    shape->left.offset, shape->right.offset,
      rows[0], columns[0], steps[0]};
  // The fewer calls, the better.
  auto few = makeShape(matmul, batches[0], batches[1]);
  return few ? few : makeShape(matmul, batches[1], batches[0]);
}
