//===- Arith.cpp - Elementwise arithmetic and constants -------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "Elementwise.h"
#include "ckpt/ExternalModels/ExternalModels.h"

using namespace ckpt;

namespace {

/// A splat is written into the kernels that use it. Other constants are data
/// of the program; the planner takes them like arguments.
struct ConstantModel
    : RematOpInterface::ExternalModel<ConstantModel, mlir::arith::ConstantOp> {
  plan::OpKind getRematKind(Operation *) const { return plan::OpKind::Fusible; }
  void getReads(Operation *, SmallVectorImpl<RematRead> &) const {}
  int64_t getFlops(Operation *) const { return 0; }
};

} // namespace

void ckpt::registerArithExternalModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mlir::arith::ArithDialect *) {
    attachElementwiseModels<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
        >(context);
    mlir::arith::ConstantOp::attachInterface<ConstantModel>(*context);
  });
}
