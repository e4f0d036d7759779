//===- KernelsToBarriers.cpp - Dissolve kernels for other compilers -------===//

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace ckpt {
#define GEN_PASS_DEF_KERNELSTOBARRIERSPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

/// What the body of a recomputation reads, behind a barrier that waits for the
/// `after` values. A kernel that reads nothing makes a constant: it needs none,
/// since merging it with the original saves no memory that counts.
static void mapInputs(OpBuilder &builder, KernelOp kernel,
                      mlir::IRMapping &mapping) {
  ValueRange inputs = kernel.getInputs();
  if (!kernel.getRecompute() || inputs.empty()) {
    mapping.map(kernel.getBody().getArguments(), inputs);
    return;
  }
  auto barrier = BarrierOp::create(builder, kernel.getLoc(), inputs.getTypes(),
                                   inputs, kernel.getAfter());
  mapping.map(kernel.getBody().getArguments(), barrier.getResults());
}

static void dissolve(KernelOp kernel) {
  OpBuilder builder(kernel);
  mlir::IRMapping mapping;
  mapInputs(builder, kernel, mapping);
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  for (auto [result, value] :
       llvm::zip_equal(kernel.getResults(), yield.getValues()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  kernel.erase();
}

namespace {
struct KernelsToBarriersPass
    : impl::KernelsToBarriersPassBase<KernelsToBarriersPass> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    getOperation().walk([&](KernelOp kernel) { kernels.push_back(kernel); });
    for (KernelOp kernel : kernels)
      dissolve(kernel);
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      function->removeAttr(CkptDialect::arenaBytesAttrName());
  }
};
} // namespace
