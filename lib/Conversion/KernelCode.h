//===- KernelCode.h - A kernel's function, before and after -----*- C++ -*-===//
//
// What the emitters of the different forms of kernels share: the tensor code
// that they read, the function that they write, and how work is cut into tasks.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_KERNELCODE_H
#define CKPT_LIB_CONVERSION_KERNELCODE_H

#include "ElementEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace ckpt {

/// The tensor code of a kernel as `--ckpt-kernels-to-calls` wrote it.
struct KernelCode {
  /// Reads \p function; an error if it has another form.
  static FailureOr<KernelCode> read(mlir::func::FuncOp function);

  mlir::func::FuncOp function;
  /// A tensor that stands in memory and the argument that holds it.
  SmallVector<std::pair<Value, BlockArgument>> inputs;
  /// Constants that are no splats.
  SmallVector<mlir::arith::ConstantOp> constants;
  /// A tensor that is written and the argument that takes it.
  SmallVector<std::pair<Value, BlockArgument>> outputs;
  /// At most one op that is not made element by element.
  Operation *anchor = nullptr;
};

/// Where one task of a kernel is emitted.
struct TaskTarget {
  mlir::ImplicitLocOpBuilder &builder;
  /// Tensors of `KernelCode` in memory, as flat memrefs.
  MemoryMap memory;
  /// Flat memrefs of the outputs.
  SmallVector<Value> outputs;
  /// Number of the task.
  Value task;
};

/// A kernel's work, cut into tasks that may run at the same time.
struct TaskGrid {
  int64_t tasks = 1;
  /// Arithmetic and memory operations of all tasks, for the choice of threads.
  int64_t work = 0;
  llvm::function_ref<LogicalResult(TaskTarget &)> emit;
};

/// Replaces the tensor code of \p code by \p grid: straight code for one task,
/// a loop for little work, else a parallel loop that calls a function per task.
LogicalResult emitTasks(KernelCode &code, const TaskGrid &grid,
                        mlir::SymbolTable &symbols);

/// Work of one element of all values inside the kernel.
int64_t workPerElement(KernelCode &code);

/// Emits kernels without an anchor.
LogicalResult emitElementwiseKernel(KernelCode &code, int64_t lanes,
                                    mlir::SymbolTable &symbols);
/// Emits matmuls, convolutions and their like, and what is made of them.
LogicalResult emitContractionKernel(KernelCode &code, int64_t lanes,
                                    mlir::SymbolTable &symbols);
/// Emits kernels around an op with reduction loops, contractions too that have
/// no register tile; each sum is then one chain of fused multiply-adds.
LogicalResult emitReductionKernel(KernelCode &code, int64_t lanes,
                                  mlir::SymbolTable &symbols);

/// Bufferizes kernels that are not made element by element.
LogicalResult lowerOpaqueKernel(KernelCode &code);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_KERNELCODE_H
