//===- ContractionShape.h - A contraction as strides in memory --*- C++ -*-===//
//
// Looks through the views between a contraction and memory: transposes,
// reshapes and slices compose to strides, also of parts of a loop (heads and
// tokens that a reshape made one dimension), and windows of convolutions are
// sums of strides. Padding in such windows is zero and stands nowhere: a border
// is a coordinate that tells whether there is memory at all.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_CONTRACTIONSHAPE_H
#define CKPT_LIB_CONVERSION_KERNEL_CONTRACTIONSHAPE_H

#include "Conversion/Kernel/ContractionBody.h"
#include "Conversion/Kernel/KernelCode.h"

namespace ckpt {

/// One side of a contraction in memory.
struct StridedOperand {
  /// The tensor that stands in memory.
  Value tensor;
  int64_t offset = 0;
};

/// A coordinate of a padded operand, a sum over the loops that begins at
/// `first`: where it is not in [0, extent), the element is zero.
struct Border {
  bool isRight;
  int64_t first, extent;
};

/// A loop, or a part of one: its strides in both operands are constant.
struct StridedLoop {
  int64_t extent;
  int64_t leftStride;
  int64_t rightStride;
  /// In the coordinates of all borders.
  SmallVector<int64_t, 2> borderStrides;
};

/// One of the op's own loops, or a digit of its counter: the number of a run of
/// \p factor iterations, or the iteration inside of a run.
struct LoopDigit {
  unsigned loop;
  int64_t extent, factor;
};

/// Loops of one role as a single counter.
struct LoopGroup {
  /// Outer to inner.
  SmallVector<LoopDigit> digits;
  /// The same counter in parts with constant strides.
  SmallVector<StridedLoop> parts;

  int64_t getExtent() const;
  /// Whether neighbours lie next to each other in the right or left operand.
  bool isContiguous(bool right) const;
};

/// out[batch, row, column] += left[batch, row, k] * right[batch, k, column].
struct ContractionShape {
  ContractionBody body;
  StridedOperand left, right;
  SmallVector<Border, 2> borders;
  LoopGroup batch, rows, columns, reduced;

  bool hasBorders(bool right) const;
  /// Exchanges the sides; then the result is contiguous along its rows.
  void transpose();
};

/// Nothing if an operand is not made of views of memory, or its address is no
/// sum over the loops. The side that is contiguous in the result becomes
/// `columns`.
std::optional<ContractionShape>
matchContractionShape(KernelCode &code, mlir::linalg::LinalgOp op);

/// Offset of the loops of \p group in the right or left operand, with \p
/// counter as their counter.
LinearIndex operandOffset(const LoopGroup &group, const LinearIndex &counter,
                          bool right, IndexDivider &divider);
/// Their coordinate of border number \p border.
LinearIndex borderOffset(const LoopGroup &group, const LinearIndex &counter,
                         size_t border, IndexDivider &divider);

/// A place in an operand: `outer` counts the columns of the right one, the rows
/// of the left.
struct OperandPoint {
  LinearIndex batch, outer, step;
};

/// Whether the element stands in memory; null if it always does.
Value insideBorders(const ContractionShape &shape, bool right,
                    const OperandPoint &point, ElementEmitter &emitter);

/// The position of the element, or of any other where it is not `inside`.
struct OperandPlace {
  LinearIndex position;
  Value inside;
};
OperandPlace operandPlace(const ContractionShape &shape, bool right,
                          const OperandPoint &point, ElementEmitter &emitter);

/// A place in the result, by groups of loops.
struct ContractionPoint {
  LinearIndex batch, row, column;
};

/// The indices of the result of \p op at \p point.
SmallVector<LinearIndex> resultIndices(mlir::linalg::LinalgOp op,
                                       const ContractionShape &shape,
                                       const ContractionPoint &point,
                                       IndexDivider &divider);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_CONTRACTIONSHAPE_H
