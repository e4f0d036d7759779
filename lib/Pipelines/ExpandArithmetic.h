//===- ExpandArithmetic.h - The same bits on every target -------*- C++ -*-===//

#ifndef CKPT_LIB_PIPELINES_EXPANDARITHMETIC_H
#define CKPT_LIB_PIPELINES_EXPANDARITHMETIC_H

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace ckpt {

/// Leaves only those ops of arith and math that LLVM does in hardware, or by
/// instructions that give the same bits for scalars and vectors, on a CPU and
/// on a GPU. It comes before all passes that fold: upstream folds functions
/// with libm, and bits would depend on whether an operand is a constant of the
/// kernel. A GPU rounds to bf16 by instructions of its own.
enum class Machine { Cpu, Gpu };
void expandArithmetic(mlir::OpPassManager &manager, Machine machine);

} // namespace ckpt

#endif // CKPT_LIB_PIPELINES_EXPANDARITHMETIC_H
