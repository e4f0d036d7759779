//===- PlantFault.cpp - Faults that the emulator has to catch -------------===//

#include "PlantFault.h"
#include "ckpt/Cuda/TensorMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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
  WeakWarpgroupWait,
  DivergentWarpgroup,
  NoBoxWait,
  WrongParity,
  FewBytes,
  ManyBytes,
  EarlyBox,
  WrongCorner,
  WrongStride
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
              clEnumValN(Fault::WeakWarpgroupWait, "weak-warpgroup-wait",
                         "let one more group of wgmma be at work"),
              clEnumValN(Fault::DivergentWarpgroup, "divergent-warpgroup",
                         "let one thread of a warpgroup make more"),
              clEnumValN(Fault::NoBoxWait, "no-box-wait",
                         "erase waits for copies of boxes"),
              clEnumValN(Fault::WrongParity, "wrong-parity",
                         "wait for the other phase of a barrier"),
              clEnumValN(Fault::FewBytes, "few-bytes",
                         "expect half of the bytes of boxes"),
              clEnumValN(Fault::ManyBytes, "many-bytes",
                         "expect twice the bytes of boxes"),
              clEnumValN(Fault::EarlyBox, "early-box",
                         "ask for boxes before their place is free"),
              clEnumValN(Fault::WrongCorner, "wrong-corner",
                         "let boxes begin eight elements later"),
              clEnumValN(Fault::WrongStride, "wrong-stride",
                         "let tensor maps have lines 16 bytes longer")));

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
  if (plant == Fault::WeakWarpgroupWait)
    module.walk([](NVVM::WgmmaWaitGroupSyncOp wait) {
      // The one behind the loop stays.
      if (wait.getGroup() > 0)
        wait.setGroup(wait.getGroup() + 1);
    });
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

static void addTo(Value value, int64_t more, OpOperand &operand) {
  ImplicitLocOpBuilder builder(operand.getOwner()->getLoc(),
                               operand.getOwner());
  operand.set(arith::AddIOp::create(
      builder, value,
      arith::ConstantIntOp::create(builder, value.getType(), more)));
}

/// Lets the barrier of the loop stand behind the copies that it sets free.
static void copyEarly(scf::ForOp loop) {
  Operation *copies = nullptr, *barrier = nullptr;
  for (Operation &operation : *loop.getBody()) {
    if (isa<gpu::BarrierOp>(operation))
      barrier = &operation;
    operation.walk([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp) {
      copies = &operation;
    });
  }
  if (!copies || !barrier)
    return;
  OpBuilder(loop).clone(*barrier);
  barrier->moveAfter(copies);
}

static void changeExpected(ModuleOp module) {
  module.walk([](NVVM::MBarrierArriveExpectTxOp expect) {
    auto bytes = expect.getTxcount().getDefiningOp<arith::ConstantIntOp>();
    int64_t more =
        plant == Fault::FewBytes ? -bytes.value() / 2 : bytes.value();
    addTo(bytes, more, expect.getTxcountMutable());
  });
}

static void plantInMaps(ModuleOp module) {
  for (auto global : module.getOps<memref::GlobalOp>()) {
    if (!global.getSymName().contains("_map"))
      continue;
    auto all = cast<DenseElementsAttr>(*global.getInitialValue());
    auto words = llvm::to_vector(all.getValues<int64_t>());
    words[offsetof(ckpt::cuda::TensorMap, strides) / sizeof(int64_t) + 1] += 16;
    global.setInitialValueAttr(
        DenseElementsAttr::get(all.getType(), ArrayRef<int64_t>(words)));
  }
}

static void plantInBoxes(ModuleOp module) {
  if (plant == Fault::NoBoxWait)
    eraseAll<scf::WhileOp>(module);
  if (plant == Fault::WrongParity)
    module.walk([](NVVM::MBarrierTryWaitOp wait) {
      addTo(wait.getStateOrPhase(), 1, wait.getStateOrPhaseMutable());
    });
  if (plant == Fault::FewBytes || plant == Fault::ManyBytes)
    changeExpected(module);
  if (plant == Fault::EarlyBox)
    module.walk([](scf::ForOp loop) { copyEarly(loop); });
  if (plant == Fault::WrongCorner)
    module.walk([](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp copy) {
      OpOperand &first = *copy.getCoordinatesMutable().begin();
      addTo(first.get(), 8, first);
    });
  if (plant == Fault::WrongStride)
    plantInMaps(module);
}

void plantFault(ModuleOp module) {
  plantInWarpgroups(module);
  plantInBoxes(module);
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
