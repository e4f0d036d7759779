//===- EmitKernels.cpp - Loops for the tensor code of kernels -------------===//
//
// The pass `--ckpt-emit-kernels`: reads each kernel that `--ckpt-kernels-to-
// calls` left as tensor code and picks its emitter (CpuEmitters.h).
//
//===----------------------------------------------------------------------===//

#include "Conversion/Cpu/CpuEmitters.h"
#include "Conversion/Kernel/BufferizeOpaque.h"
#include "Conversion/Kernel/ContractionBody.h"
#include "ckpt/Conversion/Passes.h"
#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"

namespace ckpt {
#define GEN_PASS_DEF_EMITKERNELS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;
using namespace mlir;

static LogicalResult emitKernel(func::FuncOp function, int64_t lanes,
                                bool threads, SymbolTable &symbols) {
  KernelCode code = KernelCode::read(function);
  if (!code.anchor)
    return emitElementwiseKernel(code, lanes, symbols);
  if (code.isOpaque()) {
    if (failed(bufferizeOpaqueKernel(code)))
      return failure();
    return emitInnerKernels(function, lanes, symbols);
  }
  return matchContraction(cast<linalg::LinalgOp>(code.anchor))
             ? emitContractionKernel(code, lanes, threads, symbols)
             : emitReductionKernel(code, lanes, symbols);
}

namespace {
struct EmitKernels : public ckpt::impl::EmitKernelsBase<EmitKernels> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (func::FuncOp function : kernelFunctions(getOperation()))
      if (failed(emitKernel(function, lanes, threads, symbols)))
        return signalPassFailure();
    // Squares of packed panels become shuffles of registers.
    RewritePatternSet patterns(&getContext());
    vector::populateVectorTransposeLoweringPatterns(
        patterns, vector::VectorTransposeLowering::Shuffle16x16);
    if (failed(ckpt::rewriteExactly(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
