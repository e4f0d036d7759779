//===- MathToIntrinsics.cpp - Exact functions as intrinsics of LLVM -------===//
//
// `convert-gpu-to-nvvm` makes calls of libdevice of all functions, which takes
// a CUDA toolkit, and has other bits than the CPU. Functions that hardware
// rounds correctly need none; any other is an error.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace ckpt {
#define GEN_PASS_DEF_MATHTOINTRINSICS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

/// The intrinsic for \p op; empty if there is none.
static StringRef intrinsicOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::AbsFOp) { return "llvm.fabs"; })
      .Case([](math::CeilOp) { return "llvm.ceil"; })
      .Case([](math::CopySignOp) { return "llvm.copysign"; })
      .Case([](math::FloorOp) { return "llvm.floor"; })
      .Case([](math::FmaOp) { return "llvm.fma"; })
      .Case([](math::RoundOp) { return "llvm.round"; })
      .Case([](math::RoundEvenOp) { return "llvm.roundeven"; })
      .Case([](math::SqrtOp) { return "llvm.sqrt"; })
      .Case([](math::TruncOp) { return "llvm.trunc"; })
      .Default([](Operation *) { return ""; });
}

/// Whether upstream makes a call of \p op. Its functions of integers become
/// intrinsics.
static bool needsLibrary(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) &&
         isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
}

namespace {
struct MathToIntrinsics
    : public ckpt::impl::MathToIntrinsicsBase<MathToIntrinsics> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      StringRef name = intrinsicOf(op);
      if (name.empty() && needsLibrary(op)) {
        op->emitError("expected a function that is expanded or that a GPU has "
                      "in hardware, but got '")
            << op->getName() << "' in "
            << getElementTypeOrSelf(op->getResult(0).getType());
        return WalkResult::interrupt();
      }
      if (name.empty())
        return WalkResult::advance();
      OpBuilder builder(op);
      auto call = LLVM::CallIntrinsicOp::create(
          builder, op->getLoc(), op->getResult(0).getType(),
          builder.getStringAttr(name), op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
