//===- CheckKernelMemory.cpp - No heap, little stack ----------------------===//
//
// The pass `--ckpt-check-kernel-memory`, which the pipelines of both targets
// run when kernels are loops on buffers. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace ckpt {
#define GEN_PASS_DEF_CHECKKERNELMEMORY
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

/// Most bytes of the scratch memory of one function.
static constexpr int64_t stackLimitBytes = 512 * 1024;

static int64_t bytesOf(MemRefType type) {
  return type.getNumElements() * ckpt::elementBytes(type.getElementType());
}

namespace {
struct CheckKernelMemory
    : public ckpt::impl::CheckKernelMemoryBase<CheckKernelMemory> {
  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      int64_t stackBytes = 0;
      WalkResult result = function.walk([&](Operation *op) {
        if (auto scratch = dyn_cast<memref::AllocaOp>(op))
          stackBytes += bytesOf(scratch.getType());
        if (!isa<memref::AllocOp>(op))
          return WalkResult::advance();
        op->emitError("expected a kernel not to allocate, but got a buffer of "
                      "type ")
            << op->getResult(0).getType();
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
      if (stackBytes > stackLimitBytes) {
        function.emitError("expected at most ")
            << stackLimitBytes << " bytes of stack, but got " << stackBytes;
        return signalPassFailure();
      }
    });
  }
};
} // namespace
