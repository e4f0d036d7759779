//===- EmitTasks.h - A kernel's work cut into CPU tasks ---------*- C++ -*-===//
//
// The emitters of Cpu cut a kernel into tasks and say how one is emitted; this
// makes the loop around them, on one thread or on many.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_CPU_EMITTASKS_H
#define CKPT_LIB_CONVERSION_CPU_EMITTASKS_H

#include "Conversion/Kernel/KernelCode.h"
#include "mlir/IR/SymbolTable.h"

namespace ckpt {

/// A kernel's work, cut into tasks that may run at the same time.
struct TaskGrid {
  int64_t tasks = 1;
  /// Arithmetic and memory operations of all tasks, for the choice of threads.
  int64_t work = 0;
  llvm::function_ref<LogicalResult(TaskTarget &)> emit;
};

/// Replaces the tensor code of \p code by \p grid: straight code for one task,
/// a loop for little work or at a site, else a parallel loop that calls a
/// function per task.
LogicalResult emitTasks(KernelCode &code, const TaskGrid &grid,
                        mlir::SymbolTable &symbols);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_CPU_EMITTASKS_H
