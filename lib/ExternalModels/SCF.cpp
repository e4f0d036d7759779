//===- SCF.cpp - Loops and conditionals as single ops ---------------------===//
//
// A loop runs as one kernel: nothing moves in or out of it. A value that it
// updates in place from iteration to iteration is a destination.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;

/// How often the body runs; 1 where that is known only at run time.
static int64_t tripCount(Operation *op) {
  auto loop = dyn_cast<mlir::LoopLikeOpInterface>(op);
  if (!loop)
    return 1;
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       step = loop.getLoopSteps();
  if (!lower || !upper || !step)
    return 1;
  int64_t count = 1;
  for (auto [from, to, by] : llvm::zip_equal(*lower, *upper, *step)) {
    auto first = mlir::getConstantIntValue(from);
    auto end = mlir::getConstantIntValue(to);
    auto stride = mlir::getConstantIntValue(by);
    if (!first || !end || !stride || *stride <= 0)
      continue;
    int64_t length = std::max<int64_t>(0, *end - *first);
    count = saturatingProduct(count, (length + *stride - 1) / *stride);
  }
  return count;
}

namespace {

template <typename ConcreteOp>
struct OpaqueModel
    : RematOpInterface::ExternalModel<OpaqueModel<ConcreteOp>, ConcreteOp> {
  plan::OpKind getRematKind(Operation *) const { return plan::OpKind::Opaque; }

  void getReads(Operation *op, SmallVectorImpl<RematRead> &reads) const {
    appendOpaqueReads(op, reads);
    if (isa<mlir::scf::WhileOp>(op))
      return; // The results need not have the types of the inits.
    if (auto loop = dyn_cast<mlir::LoopLikeOpInterface>(op))
      for (OpOperand &init : loop.getInitsMutable())
        reads[init.getOperandNumber()].destination = true;
  }

  /// One iteration of each body; the longer branch of a conditional.
  int64_t getFlops(Operation *op) const {
    int64_t all = 0, longest = 0;
    for (Region &region : op->getRegions()) {
      int64_t flops = 0;
      for (Operation &inner : region.getOps())
        flops = saturatingSum(flops, flopsOf(&inner));
      all = saturatingSum(all, flops);
      longest = std::max(longest, flops);
    }
    bool isBranch = isa<mlir::scf::IfOp, mlir::scf::IndexSwitchOp>(op);
    return saturatingProduct(tripCount(op), isBranch ? longest : all);
  }
};

template <typename... Ops>
void attachOpaqueModels(MLIRContext *context) {
  (Ops::template attachInterface<OpaqueModel<Ops>>(*context), ...);
}

} // namespace

void ckpt::registerSCFExternalModels(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mlir::scf::SCFDialect *) {
    attachOpaqueModels<mlir::scf::ForOp, mlir::scf::ForallOp,
                       mlir::scf::WhileOp, mlir::scf::IfOp,
                       mlir::scf::IndexSwitchOp, mlir::scf::ParallelOp,
                       mlir::scf::ExecuteRegionOp>(context);
  });
}
