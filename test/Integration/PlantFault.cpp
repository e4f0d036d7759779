//===- PlantFault.cpp - Faults that the emulator has to catch -------------===//

#include "PlantFault.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

namespace {
enum class Fault {
  None,
  NoBarriers,
  DivergentBarrier,
  OffByOne,
  NoWaits,
  WeakWait,
  NoProxyFence,
  NoSwizzle,
  NoWarpgroupFence,
  NoWarpgroupWait,
  DivergentWarpgroup
};
} // namespace

static llvm::cl::opt<Fault>
    plant("plant", llvm::cl::init(Fault::None),
          llvm::cl::desc("plant a fault into the device code"),
          llvm::cl::values(
              clEnumValN(Fault::NoBarriers, "no-barriers", "erase barriers"),
              clEnumValN(Fault::DivergentBarrier, "divergent-barrier",
                         "let one thread reach the first barrier only"),
              clEnumValN(Fault::OffByOne, "off-by-one",
                         "let one thread more store its output"),
              clEnumValN(Fault::NoWaits, "no-waits", "erase waits for copies"),
              clEnumValN(Fault::WeakWait, "weak-wait",
                         "wait for one group of copies less"),
              clEnumValN(Fault::NoProxyFence, "no-proxy-fence",
                         "erase fences between proxies"),
              clEnumValN(Fault::NoSwizzle, "no-swizzle",
                         "leave chunks of shared memory in their order"),
              clEnumValN(Fault::NoWarpgroupFence, "no-warpgroup-fence",
                         "erase fences of registers before wgmma"),
              clEnumValN(Fault::NoWarpgroupWait, "no-warpgroup-wait",
                         "erase waits for wgmma"),
              clEnumValN(Fault::DivergentWarpgroup, "divergent-warpgroup",
                         "let one thread of a warpgroup make more")));

bool plantsFault() { return plant != Fault::None; }

/// Lets only the first thread of a block reach \p operation.
static void divert(Operation *operation) {
  ImplicitLocOpBuilder builder(operation->getLoc(), operation);
  Value thread = gpu::ThreadIdOp::create(builder, gpu::Dimension::x);
  Value isFirst =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, thread,
                            arith::ConstantIndexOp::create(builder, 0));
  auto choice = scf::IfOp::create(builder, isFirst, /*withElseRegion=*/false);
  operation->moveBefore(choice.thenBlock()->getTerminator());
}

template <typename Op>
static void eraseAll(ModuleOp module) {
  module.walk([](Op operation) { operation.erase(); });
}

static void plantInWarpgroups(ModuleOp module) {
  if (plant == Fault::NoProxyFence)
    eraseAll<NVVM::FenceProxyOp>(module);
  if (plant == Fault::NoWarpgroupFence)
    eraseAll<NVVM::WgmmaFenceAlignedOp>(module);
  if (plant == Fault::NoWarpgroupWait)
    eraseAll<NVVM::WgmmaWaitGroupSyncOp>(module);
  if (plant == Fault::NoSwizzle)
    module.walk([](arith::XOrIOp swapped) {
      swapped.getResult().replaceAllUsesWith(swapped.getLhs());
    });
  SmallVector<Operation *> fences;
  module.walk(
      [&](NVVM::WgmmaFenceAlignedOp fence) { fences.push_back(fence); });
  if (plant == Fault::DivergentWarpgroup && !fences.empty())
    divert(fences.front());
}

void plantFault(ModuleOp module) {
  plantInWarpgroups(module);
  if (plant == Fault::NoBarriers)
    eraseAll<gpu::BarrierOp>(module);
  module.walk([](NVVM::CpAsyncWaitGroupOp wait) {
    if (plant == Fault::WeakWait)
      wait.setN(wait.getN() + 1);
    if (plant == Fault::NoWaits)
      wait.erase();
  });
  if (plant == Fault::OffByOne)
    module.walk([](arith::CmpIOp bound) {
      if (bound.getPredicate() == arith::CmpIPredicate::ult)
        bound.setPredicate(arith::CmpIPredicate::ule);
    });
  SmallVector<Operation *> barriers;
  module.walk([&](gpu::BarrierOp barrier) { barriers.push_back(barrier); });
  if (plant == Fault::DivergentBarrier && !barriers.empty())
    divert(barriers.front());
}
