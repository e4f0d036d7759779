//===- ProblemBuilder.h - From a function to a planning problem -*- C++ -*-===//
//
// The first step of every pass and tool that plans: ops and values of a
// function become the numbers that lib/Plan works on. The result keeps the way
// back.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_IMPORT_PROBLEMBUILDER_H
#define CKPT_IMPORT_PROBLEMBUILDER_H

#include "ckpt/Cost/Device.h"
#include "ckpt/Plan/Problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace ckpt {

/// The source of a part of a result of the function.
struct ProgramResult {
  /// Its elements, in the same order and perhaps in another shape. `none` for
  /// a scalar constant or a `tensor.empty`, which no kernel makes.
  plan::ValueId value = plan::none;
  /// The part is filled by a copy: `value` is an argument or a constant, or an
  /// earlier part lies in the buffer that it was written to.
  bool copied = false;
  /// The number of the function's result, and where the part begins in the
  /// caller's buffer.
  unsigned result = 0;
  int64_t beginBytes = 0;
};

/// The planning problem of a function, and the meaning of its numbers.
struct ProgramProblem {
  mlir::func::FuncOp function;
  plan::Problem problem;
  /// Bytes of the arguments and results.
  int64_t outsideBytes = 0;
  /// By `plan::OpId` and `plan::ValueId`. Ops that nothing needs, scalar
  /// constants, `tensor.empty`, layers and terminators have no number.
  SmallVector<Operation *> ops;
  SmallVector<Value> values;
  llvm::DenseMap<Operation *, plan::OpId> opIds;
  llvm::DenseMap<Value, plan::ValueId> valueIds;
  /// In the order of the function's results and of parts in them; most results
  /// are one part (`returnedParts`).
  SmallVector<ProgramResult> results;
  /// By argument: the result that lies in its buffer, or -1.
  SmallVector<int64_t> donated;

  /// The first part of the results that is \p value, or -1.
  int64_t partOf(plan::ValueId value) const {
    const auto *part = llvm::find_if(results, [&](const ProgramResult &result) {
      return result.value == value;
    });
    return part == results.end() ? -1 : part - results.begin();
  }
};

/// Reads \p function, with costs on \p device. Reports at its place each part
/// of the program that cannot be planned.
FailureOr<ProgramProblem> buildProblem(mlir::func::FuncOp function,
                                       const Device &device);

/// The same on the device of that name, or that a file describes; see
/// `findDevice`.
FailureOr<ProgramProblem> buildProblem(mlir::func::FuncOp function,
                                       StringRef device);

} // namespace ckpt

#endif // CKPT_IMPORT_PROBLEMBUILDER_H
