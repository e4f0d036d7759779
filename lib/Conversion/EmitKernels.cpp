//===- EmitKernels.cpp - Loops for the tensor code of kernels -------------===//

#include "ckpt/Conversion/Passes.h"
#include "ContractionBody.h"
#include "KernelCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ckpt {
#define GEN_PASS_DEF_EMITKERNELS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;
using namespace mlir;

/// `--ckpt-kernels-to-calls` ends kernels so, and nothing else does.
static bool isKernelFunction(func::FuncOp function) {
  return function.isPrivate() && !function.isExternal() &&
         !function.front()
              .getOps<bufferization::MaterializeInDestinationOp>()
              .empty();
}

static LogicalResult emitKernel(func::FuncOp function, int64_t lanes,
                                SymbolTable &symbols) {
  FailureOr<KernelCode> code = KernelCode::read(function);
  if (failed(code))
    return failure();
  if (!code->anchor)
    return emitElementwiseKernel(*code, lanes, symbols);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(code->anchor);
  if (!linalgOp || linalgOp.getNumReductionLoops() == 0)
    return lowerOpaqueKernel(*code);
  return matchContraction(linalgOp)
             ? emitContractionKernel(*code, lanes, symbols)
             : emitReductionKernel(*code, lanes, symbols);
}

namespace {
struct EmitKernels : public ckpt::impl::EmitKernelsBase<EmitKernels> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (isKernelFunction(function) &&
          failed(emitKernel(function, lanes, symbols)))
        return signalPassFailure();
  }
};
} // namespace
