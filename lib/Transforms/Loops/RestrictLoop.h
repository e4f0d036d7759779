//===- RestrictLoop.h - An op on a part of its loop nest --------*- C++ -*-===//
//
// Splitting an op on a stack, and moving a slice before its source, both run an
// op on a range of one of its loops.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_RESTRICTLOOP_H
#define CKPT_LIB_TRANSFORMS_LOOPS_RESTRICTLOOP_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ckpt {

/// Iterations `[begin, begin + size)` of a loop. A range of one iteration is no
/// loop any more, and its operands lose the dimension.
struct LoopRange {
  unsigned loop;
  int64_t begin, size;
  bool drops() const { return size == 1; }
};

/// The position of \p loop in the results of \p map; none if it has no part.
std::optional<int64_t> dimOfLoop(mlir::AffineMap map, unsigned loop);

/// Whether \p op can run on ranges of \p loop: its maps only pick loops, and
/// its body does not ask for the loop's index.
bool canRestrict(mlir::linalg::GenericOp op, unsigned loop);

/// The rows of an operand along a dimension that a range reads.
using RowsOf = llvm::function_ref<Value(OpOperand &, int64_t dim)>;

/// \p op on \p range with destinations \p inits, which have the range already.
/// \p rowsOf gives the rows of the inputs with the loop.
mlir::linalg::GenericOp restrictLoop(OpBuilder &builder,
                                     mlir::linalg::GenericOp op,
                                     const LoopRange &range, ValueRange inits,
                                     RowsOf rowsOf);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_RESTRICTLOOP_H
