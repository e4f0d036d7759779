//===- VerifySlots.cpp - Check the places of kernels from the IR alone ----===//
//
// Knows nothing of plans or problems: only kernels, their operands and their
// slots. So it also judges a file that was edited by hand.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Transforms/Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {
#define GEN_PASS_DEF_VERIFYSLOTSPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

namespace {
/// A stretch of the arena, or of the buffer of a result of the function, from
/// one kernel to another, both inclusive.
struct Slot {
  KernelOp kernel;
  /// -1 for the arena, else the number of the function's result.
  int64_t buffer;
  /// -1 for the workspace.
  int64_t result;
  int64_t begin, end;
  int64_t first, last;
  /// A result of the kernel in which it dies is written over it.
  bool taken = false;

  bool overlaps(const Slot &other) const {
    return buffer == other.buffer && begin < other.end && other.begin < end &&
           first <= other.last && other.first <= last;
  }
};

std::string describe(const Slot &slot) {
  return (slot.result < 0 ? std::string("the workspace")
                          : "result " + std::to_string(slot.result)) +
         " at [" + std::to_string(slot.begin) + ", " +
         std::to_string(slot.end) + ")" +
         (slot.buffer < 0
              ? std::string()
              : " of the buffer of result " + std::to_string(slot.buffer) +
                    " of the function");
}

/// The number of the function's result that \p value is, or -1.
int64_t returnedAs(Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<mlir::func::ReturnOp>(use.getOwner()))
      return use.getOperandNumber();
  return -1;
}

SmallVector<Slot> collectSlots(mlir::func::FuncOp function) {
  llvm::DenseMap<Operation *, int64_t> position;
  for (KernelOp kernel : function.getOps<KernelOp>())
    position.try_emplace(kernel, position.size());
  SmallVector<Slot> slots;
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    int64_t at = position[kernel];
    for (auto [i, result] : llvm::enumerate(kernel.getResults())) {
      int64_t offset = kernel.getOffsets()[i], bytes = kernel.getBytes()[i];
      int64_t buffer = offset == -1 ? returnedAs(result) : hostOf(offset);
      if ((offset < 0 && buffer < 0) || bytes == 0)
        continue;
      offset = std::max<int64_t>(offset, 0);
      int64_t last = at;
      for (Operation *user : result.getUsers())
        last = std::max(last, isa<KernelOp>(user) ? position[user]
                                                  : int64_t(position.size()));
      slots.push_back({kernel, buffer, static_cast<int64_t>(i), offset,
                       offset + bytes, at, last});
    }
    if (int64_t bytes = kernel.getWorkspaceBytes()) {
      int64_t offset = kernel.getWorkspaceOffset();
      slots.push_back({kernel, -1, -1, offset, offset + bytes, at, at});
    }
  }
  return slots;
}

/// Whether \p later may stand where \p earlier does: it takes over the whole
/// place of an input that dies in its kernel.
bool takesOver(const Slot &later, const Slot &earlier) {
  if (later.result < 0 || earlier.last != later.first ||
      later.begin != earlier.begin || later.end > earlier.end)
    return false;
  KernelOp maker = earlier.kernel, reader = later.kernel;
  return llvm::is_contained(reader.getInputs(),
                            maker.getResult(earlier.result));
}

LogicalResult verifyOverlaps(SmallVector<Slot> &slots) {
  llvm::stable_sort(
      slots, [](const Slot &a, const Slot &b) { return a.first < b.first; });
  SmallVector<Slot *> live;
  for (Slot &slot : slots) {
    llvm::erase_if(live, [&](Slot *other) { return other->last < slot.first; });
    for (Slot *other : live) {
      if (!slot.overlaps(*other))
        continue;
      bool sameKernel = other->kernel == slot.kernel;
      if (!sameKernel && !other->taken && takesOver(slot, *other)) {
        other->taken = true;
        continue;
      }
      mlir::InFlightDiagnostic diagnostic =
          mlir::emitError(slot.kernel.getLoc())
          << describe(slot) << " overlaps a value that is still needed";
      diagnostic.attachNote(other->kernel.getLoc())
          << "which is " << describe(*other);
      return diagnostic;
    }
    live.push_back(&slot);
  }
  return success();
}

/// The function has the result in whose buffer the slot lies, and that is large
/// enough.
LogicalResult verifyHost(mlir::func::FuncOp function, Slot slot) {
  auto results = function.getBody().front().getTerminator()->getOperands();
  int64_t bytes = -1;
  if (slot.buffer < static_cast<int64_t>(results.size()))
    if (auto shape = shapeOfValue(results[slot.buffer]); succeeded(shape))
      bytes = shape->bytes;
  if (slot.end <= bytes)
    return success();
  return mlir::emitError(slot.kernel.getLoc())
         << describe(slot) << ", which does not exist or is smaller";
}

struct VerifySlotsPass : impl::VerifySlotsPassBase<VerifySlotsPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      if (failed(verifySlots(function)))
        return signalPassFailure();
  }
};
} // namespace

LogicalResult ckpt::verifySlots(mlir::func::FuncOp function) {
  auto arena = function->getAttrOfType<mlir::IntegerAttr>(
      CkptDialect::arenaBytesAttrName());
  SmallVector<Slot> slots = collectSlots(function);
  for (Slot &slot : slots) {
    if (slot.buffer >= 0) {
      if (failed(verifyHost(function, slot)))
        return failure();
      continue;
    }
    if (!arena)
      return mlir::emitError(function.getLoc())
             << "expected '" << CkptDialect::arenaBytesAttrName()
             << "' on a function with kernels";
    if (slot.end > arena.getInt())
      return mlir::emitError(slot.kernel.getLoc())
             << describe(slot) << " ends beyond the arena of " << arena.getInt()
             << " bytes";
  }
  return verifyOverlaps(slots);
}
