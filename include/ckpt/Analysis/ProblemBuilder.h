//===- ProblemBuilder.h - From a function to a planning problem -*- C++ -*-===//

#ifndef CKPT_ANALYSIS_PROBLEMBUILDER_H
#define CKPT_ANALYSIS_PROBLEMBUILDER_H

#include "ckpt/Analysis/Device.h"
#include "ckpt/Plan/Problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace ckpt {

/// Where a result of the function comes from.
struct ProgramResult {
  /// Its elements, in the same order and perhaps in another shape. `none` for
  /// a scalar constant or a `tensor.empty`, which no kernel makes.
  plan::ValueId value = plan::none;
  /// The caller's buffer is filled by a copy: `value` is an argument or a
  /// constant, or an earlier result lies in the buffer that it was written to.
  bool copied = false;
};

/// The planning problem of a function, and what its numbers stand for.
struct ProgramProblem {
  mlir::func::FuncOp function;
  plan::Problem problem;
  /// Of the arguments and results.
  int64_t outsideBytes = 0;
  /// By `plan::OpId` and `plan::ValueId`. Ops that nothing needs, scalar
  /// constants, `tensor.empty`, layers and terminators have no number.
  SmallVector<Operation *> ops;
  SmallVector<Value> values;
  llvm::DenseMap<Operation *, plan::OpId> opIds;
  llvm::DenseMap<Value, plan::ValueId> valueIds;
  /// By function result.
  SmallVector<ProgramResult> results;
};

/// Reads \p function, whose costs are those on \p device. Says at the place in
/// the program why it cannot be planned.
FailureOr<ProgramProblem> buildProblem(mlir::func::FuncOp function,
                                       const Device &device);

/// The same on the device of that name, or that a file describes; see
/// `findDevice`.
FailureOr<ProgramProblem> buildProblem(mlir::func::FuncOp function,
                                       StringRef device);

} // namespace ckpt

#endif // CKPT_ANALYSIS_PROBLEMBUILDER_H
