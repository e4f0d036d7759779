//===- Signature.h - Arguments and results of a step ------------*- C++ -*-===//
//
// The runner and the C API name, allocate, read and write the tensors of a step
// by its signature, before and after the step runs.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_SIGNATURE_H
#define CKPT_RUNTIME_SIGNATURE_H

#include "ckpt/Runtime/Npz.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// An argument or a result of a step.
struct TensorSpec {
  /// As in `.npz` files: arg000, out000.
  std::string name;
  /// From the location, such as params['h']['0']; may be empty.
  std::string label;
  mlir::RankedTensorType type;
  int64_t bytes = 0;

  /// "arg003 (params['w'])".
  std::string title() const;
};

struct Signature {
  SmallVector<TensorSpec> arguments;
  SmallVector<TensorSpec> results;
};

/// The tensors of \p function. Reports an error where one has no static shape
/// or an element type that `.npz` files do not hold.
FailureOr<Signature> readSignature(mlir::func::FuncOp function);

/// The type in which elements of \p type are written.
NpyType npyTypeOf(Type type);

/// Whether \p stored holds elements of \p type bit by bit: signs of integers do
/// not matter, and bfloat16 may come as uint16, since NumPy does not know it.
bool holdsElementsOf(NpyType stored, Type type);

} // namespace ckpt

#endif // CKPT_RUNTIME_SIGNATURE_H
