//===- SetGpuTarget.cpp - The target of device code -----------------------===//
//
// The pass `--ckpt-set-gpu-target`, the last one on device code before upstream
// makes PTX of it. See Passes.td.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

namespace ckpt {
#define GEN_PASS_DEF_SETGPUTARGET
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

/// The first chips with all that the emitters use.
static constexpr unsigned oldestChip = 80;

/// LLVM takes an unknown chip for its oldest one, with a warning.
static bool isSupportedChip(StringRef chip) {
  StringRef rest = chip;
  unsigned number = 0;
  if (!rest.consume_front("sm_") || rest.consumeInteger(10, number) ||
      number < oldestChip)
    return false;
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  return info && info->isCPUStringValid(chip);
}

/// Functions of libdevice are none that the CPU has too, bit by bit.
static LogicalResult checkCalls(gpu::GPUModuleOp device) {
  WalkResult result = device.walk([&](LLVM::CallOp call) {
    auto callee = call.getCallee()
                      ? device.lookupSymbol<LLVM::LLVMFuncOp>(*call.getCallee())
                      : LLVM::LLVMFuncOp();
    if (callee && !callee.isExternal())
      return WalkResult::advance();
    call.emitError("expected functions that are expanded or that a GPU has in "
                   "hardware, but got a call of '")
        << call.getCallee().value_or("a pointer") << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Instructions of a warpgroup belong to one chip: later ones lack them.
static LogicalResult checkWarpgroups(gpu::GPUModuleOp device, StringRef chip) {
  constexpr StringRef onlyChip = "sm_90a";
  if (chip == onlyChip)
    return success();
  WalkResult result = device.walk([&](NVVM::WgmmaFenceAlignedOp fence) {
    auto kernel = fence->getParentOfType<LLVM::LLVMFuncOp>();
    kernel.emitError("expected chip '")
        << onlyChip << "' for tensor-cores=wgmma, but got '" << chip << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct SetGpuTarget : public ckpt::impl::SetGpuTargetBase<SetGpuTarget> {
  using SetGpuTargetBase::SetGpuTargetBase;

  void runOnOperation() override {
    if (!isSupportedChip(chip)) {
      getOperation().emitError("expected a chip that LLVM knows, 'sm_80' or "
                               "later, but got '")
          << chip << "'";
      return signalPassFailure();
    }
    Builder builder(&getContext());
    auto target = NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/2,
                                            "nvptx64-nvidia-cuda", chip,
                                            /*features=*/"");
    for (auto device : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (failed(checkCalls(device)) || failed(checkWarpgroups(device, chip)))
        return signalPassFailure();
      device.setTargetsAttr(builder.getArrayAttr(target));
    }
  }
};
} // namespace
