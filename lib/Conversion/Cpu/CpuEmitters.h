//===- CpuEmitters.h - One emitter for each form of kernel ------*- C++ -*-===//
//
// `--ckpt-emit-kernels` picks the emitter by a kernel's anchor and replaces the
// tensor code of the kernel by loops over vectors of \p lanes elements.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_CPU_CPUEMITTERS_H
#define CKPT_LIB_CONVERSION_CPU_CPUEMITTERS_H

#include "Conversion/Kernel/KernelCode.h"
#include "mlir/IR/SymbolTable.h"

namespace ckpt {

/// Emits kernels without an anchor.
LogicalResult emitElementwiseKernel(KernelCode &code, int64_t lanes,
                                    mlir::SymbolTable &symbols);
/// Emits matmuls, convolutions and their like, with their epilogues.
LogicalResult emitContractionKernel(KernelCode &code, int64_t lanes,
                                    bool threads, mlir::SymbolTable &symbols);
/// Emits kernels around an op with reduction loops, contractions too that have
/// no register tile; each sum is then one chain of fused multiply-adds.
LogicalResult emitReductionKernel(KernelCode &code, int64_t lanes,
                                  mlir::SymbolTable &symbols);

/// Emits the reductions of \p function for the CPU.
LogicalResult emitInnerKernels(mlir::func::FuncOp function, int64_t lanes,
                               mlir::SymbolTable &symbols);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_CPU_CPUEMITTERS_H
