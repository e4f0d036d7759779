//===- KernelCode.h - A kernel's function, before and after -----*- C++ -*-===//
//
// Shared by the emitters of the different forms of kernels: the tensor code
// that they read and the function that they write.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNEL_KERNELCODE_H
#define CKPT_LIB_CONVERSION_KERNEL_KERNELCODE_H

#include "Conversion/Element/ElementEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace ckpt {

/// The functions of kernels in \p module, in order.
SmallVector<mlir::func::FuncOp> kernelFunctions(ModuleOp module);

/// The tensor code of a kernel as `--ckpt-kernels-to-calls` wrote it.
struct KernelCode {
  /// Reads \p function. Ops that no emitter takes together become one anchor.
  static KernelCode read(mlir::func::FuncOp function);

  /// The argument that holds \p tensor.
  std::optional<BlockArgument> inputArgument(Value tensor) const;

  /// Whether the anchor has no emitter: it is bufferized by itself.
  bool isOpaque() const;

  mlir::func::FuncOp function;
  /// A tensor that stands in memory and the argument that holds it.
  SmallVector<std::pair<Value, BlockArgument>> inputs;
  /// Constants that are no splats.
  SmallVector<mlir::arith::ConstantOp> constants;
  /// A tensor that is written and the argument that takes it.
  SmallVector<std::pair<Value, BlockArgument>> outputs;
  /// At most one op that is not made element by element.
  Operation *anchor = nullptr;
  /// The op on buffers that the code is emitted in place of, where it is not
  /// the function's (InnerKernel.h).
  mlir::linalg::LinalgOp site;
};

/// The place at which one task of a kernel is emitted.
struct TaskTarget {
  mlir::ImplicitLocOpBuilder &builder;
  /// Tensors of `KernelCode` in memory, as flat memrefs.
  MemoryMap memory;
  /// Flat memrefs of the outputs.
  SmallVector<Value> outputs;
  /// Number of the task.
  Value task;
};

/// \p buffer, which is contiguous, with one dimension, so that positions are
/// plain sums.
Value flatten(mlir::ImplicitLocOpBuilder &builder, Value buffer);

/// The constants of \p code as read-only memory, made at \p builder.
SmallVector<mlir::memref::GlobalOp> makeGlobals(KernelCode &code,
                                                mlir::OpBuilder builder,
                                                mlir::SymbolTable &symbols);

/// A target in the block \p entry, whose first arguments are the kernel's.
TaskTarget enterTask(KernelCode &code, Block &entry,
                     ArrayRef<mlir::memref::GlobalOp> globals,
                     mlir::ImplicitLocOpBuilder &builder);

/// Work of one element of all values inside the kernel.
int64_t workPerElement(KernelCode &code);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNEL_KERNELCODE_H
