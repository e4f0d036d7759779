//===- Stacks.h - Tensors made of pieces ------------------------*- C++ -*-===//
//
// A loop stacks one piece per iteration; readers of the stack read pieces
// again. A stack here is any tensor whose pieces along one dimension are known
// values: a chain of `tensor.insert_slice`, a `tensor.concat`, a padding, or
// views of these.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_STACKS_H
#define CKPT_LIB_TRANSFORMS_LOOPS_STACKS_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace ckpt {

/// Rows `[begin, begin + size)` of a stack along its dimension: as many rows of
/// `source` from `offset` on, or zeros where `source` is null.
struct Piece {
  int64_t begin, size;
  Value source;
  int64_t offset = 0;
};

struct Stack {
  int64_t dim;
  /// Without gaps, in ascending order.
  SmallVector<Piece, 2> pieces;
  /// The tensor that the pieces were inserted into, which may still hold rows.
  Value base = {};

  /// The piece that holds rows `[begin, begin + size)`; null if none holds all.
  const Piece *find(int64_t begin, int64_t size) const;
};

/// The stacks of a block. The block is read from its first op to its last.
class Stacks {
public:
  /// Reads one op; the ops before it were read. May build views of pieces.
  void read(Operation &op);

  /// The stack that \p value is, or null.
  const Stack *find(Value value) const;

  /// Erases the views of pieces that nothing reads. Forgets all stacks.
  void clear();

  void set(Value value, Stack stack) { stacks[value] = std::move(stack); }

private:
  void readInsert(Operation &op);
  void readConcat(Operation &op);
  void readPad(Operation &op);
  void readSlice(Operation &op);
  void readReshape(Operation &op);
  void keepView(Value view);

  llvm::DenseMap<Value, Stack> stacks;
  llvm::SetVector<Operation *> views;
};

/// Rows `[begin, begin + size)` of \p value along \p dim: a static slice, or
/// its equivalent if \p value is a constant, a fill or an empty tensor. With \p
/// drop the dimension, of size one then, is left out.
Value sliceRows(OpBuilder &builder, Location loc, Value value, int64_t dim,
                int64_t begin, int64_t size, bool drop = false);

/// \p piece of a stack of type \p whole, as `sliceRows` gives it.
Value pieceValue(OpBuilder &builder, Location loc, Type whole, int64_t dim,
                 const Piece &piece, bool drop = false);

/// \p value with a dimension of size one inserted at \p dim.
Value insertUnitDim(OpBuilder &builder, Location loc, Value value, int64_t dim);

/// \p value as \p type, which leaves out some of its dimensions of size one.
Value withDroppedDims(OpBuilder &builder, Location loc, Value value,
                      mlir::RankedTensorType type);

/// The only dimension of \p shape that \p op, a static slice without strides,
/// does not take whole; the first one if it takes all. None for other slices.
std::optional<int64_t> slicedDim(mlir::OffsetSizeAndStrideOpInterface op,
                                 ArrayRef<int64_t> shape);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_STACKS_H
