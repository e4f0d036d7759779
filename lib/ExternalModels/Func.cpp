//===- Func.cpp - Calls ---------------------------------------------------===//

#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace ckpt;

/// The called function if its body is here.
static mlir::func::FuncOp calledFunction(Operation *op) {
  auto call = cast<mlir::func::CallOp>(op);
  auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(
      op, call.getCalleeAttr());
  return callee && !callee.isDeclaration() ? callee : nullptr;
}

namespace {

/// A callee that calls in turn counts as one with effects: it may call itself.
struct CallModel
    : RematOpInterface::ExternalModel<CallModel, mlir::func::CallOp> {
  plan::OpKind getRematKind(Operation *) const { return plan::OpKind::Opaque; }

  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    appendOpaqueReads(op, reads);
  }

  /// The work of a pure callee, which holds no further calls.
  int64_t getFlops(Operation *op) const {
    int64_t flops = 0;
    if (!hasSideEffects(op))
      for (Operation &inner : calledFunction(op).getBody().getOps())
        flops = saturatingSum(flops, flopsOf(&inner));
    return flops;
  }

  bool hasSideEffects(Operation *op) const {
    mlir::func::FuncOp callee = calledFunction(op);
    if (!callee || !callee.getBody().hasOneBlock())
      return true;
    return !llvm::all_of(callee.getBody().getOps(), [](Operation &inner) {
      return inner.hasTrait<mlir::OpTrait::IsTerminator>() ||
             mlir::isMemoryEffectFree(&inner);
    });
  }
};

} // namespace

void ckpt::registerFuncExternalModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mlir::func::FuncDialect *) {
    mlir::func::CallOp::attachInterface<CallModel>(*context);
  });
}
