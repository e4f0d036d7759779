//===- IterationNames.h - Names of unrolled iterations ----------*- C++ -*-===//
//
// JAX names an op in a loop `.../jvp(while)/body/dot_general`. Unrolled, its
// iteration 3 becomes `.../jvp(while_3)/dot_general`, so that reports and
// layers read like the ones of a loop in Python.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_ITERATIONNAMES_H
#define CKPT_LIB_TRANSFORMS_LOOPS_ITERATIONNAMES_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/DenseMap.h"

namespace ckpt {

/// An iteration of one of the loops around an op, the outermost first.
struct Iteration {
  int64_t number, count;
};

/// Names locations in one iteration after another.
class IterationNames {
public:
  void enter(Iteration iteration);
  void leave();

  /// \p location with the numbers of the iterations that were entered. The
  /// backward pass of a loop runs from the last iteration to the first: where
  /// the loop is transposed, the number is the one of the forward iteration.
  Location operator()(Location location);

private:
  SmallVector<Iteration> iterations;
  llvm::DenseMap<Location, Location> known;
};

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_ITERATIONNAMES_H
