//===- VerifySlots.cpp - Check the places of kernels from the IR alone ----===//
//
// Knows nothing of plans or problems, only kernels, their operands and their
// slots. It therefore also judges a file that was edited by hand.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifySlots.h"
#include "ckpt/Analysis/ReturnedParts.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/IR/ArenaLimit.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Import/Donation.h"
#include "ckpt/Verify/Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace ckpt;

namespace {
/// A stretch of the arena, or of a part of the function's results, from one
/// kernel to another, both inclusive.
struct Slot {
  /// Null for a donated argument.
  KernelOp kernel;
  /// -1 for the arena, else the number of the part.
  int64_t buffer;
  /// -1 for the workspace; of a donated argument its number.
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
                          : (slot.kernel ? "result " : "argument ") +
                                std::to_string(slot.result)) +
         " at [" + std::to_string(slot.begin) + ", " +
         std::to_string(slot.end) + ")" +
         (slot.buffer < 0
              ? std::string()
              : " of the buffer of result " + std::to_string(slot.buffer) +
                    " of the function");
}

/// End of a slot; the largest number on overflow.
int64_t endOf(int64_t offset, int64_t bytes) {
  int64_t end;
  return llvm::AddOverflow(offset, bytes, end)
             ? std::numeric_limits<int64_t>::max()
             : end;
}

SmallVector<Slot> collectSlots(mlir::func::FuncOp function,
                               ArrayRef<ReturnedPart> parts) {
  llvm::DenseMap<Value, int64_t> partOf;
  for (auto [number, part] : llvm::enumerate(parts))
    partOf.try_emplace(part.value, number);
  llvm::DenseMap<Operation *, int64_t> position;
  for (KernelOp kernel : function.getOps<KernelOp>())
    position.try_emplace(kernel, position.size());
  SmallVector<Slot> slots;
  for (KernelOp kernel : function.getOps<KernelOp>()) {
    int64_t at = position[kernel];
    for (auto [i, result] : llvm::enumerate(kernel.getResults())) {
      int64_t offset = kernel.getOffsets()[i], bytes = kernel.getBytes()[i];
      auto returned = partOf.find(result);
      int64_t buffer = kernel.getHost(i);
      if (offset == -1 && returned != partOf.end())
        buffer = returned->second;
      if (offset < 0 && (buffer < 0 || bytes == 0))
        continue;
      offset = std::max<int64_t>(offset, 0);
      int64_t last = std::max(at, lastReader(result, position));
      slots.push_back({kernel, buffer, static_cast<int64_t>(i), offset,
                       endOf(offset, bytes), at, last});
    }
    if (int64_t bytes = kernel.getWorkspaceBytes()) {
      int64_t offset = kernel.getWorkspaceOffset();
      slots.push_back({kernel, -1, -1, offset, endOf(offset, bytes), at, at});
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
  Value there = maker
                    ? Value(maker.getResult(earlier.result))
                    : reader->getParentOfType<mlir::func::FuncOp>().getArgument(
                          earlier.result);
  return llvm::is_contained(reader.getInputs(), there);
}

/// Donated arguments stand in the buffers of results until they are read for
/// the last time.
LogicalResult addDonated(mlir::func::FuncOp function,
                         ArrayRef<ReturnedPart> parts,
                         SmallVector<Slot> &slots) {
  llvm::DenseMap<Operation *, int64_t> position;
  for (KernelOp kernel : function.getOps<KernelOp>())
    position.try_emplace(kernel, position.size());
  llvm::DenseSet<int64_t> taken;
  for (auto [number, result] : llvm::enumerate(donatedResults(function))) {
    if (result < 0)
      continue;
    BlockArgument argument = function.getArgument(number);
    auto isOfResult = [&, r = result](const ReturnedPart &part) {
      return part.result == r;
    };
    auto part = llvm::find_if(parts, isOfResult);
    FailureOr<ValueShape> given = shapeOfValue(argument), made = failure();
    if (llvm::count_if(parts, isOfResult) == 1 && taken.insert(result).second)
      made = shapeOfValue(part->value);
    if (failed(given) || failed(made) || given->bytes != made->bytes)
      return mlir::emitError(argument.getLoc())
             << "argument " << number << " is donated to result " << result
             << " of the function, which is no single value as large, or "
                "another argument is";
    slots.push_back({KernelOp(), part - parts.begin(),
                     static_cast<int64_t>(number), 0, given->bytes, -1,
                     lastReader(argument, position)});
  }
  return success();
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
      Operation *place = other->kernel ? other->kernel.getOperation()
                                       : slot.kernel->getParentOp();
      diagnostic.attachNote(place->getLoc()) << "which is " << describe(*other);
      return diagnostic;
    }
    live.push_back(&slot);
  }
  return success();
}

/// The slot of a result has a place for all of its elements.
LogicalResult verifySize(const Slot &slot) {
  KernelOp kernel = slot.kernel;
  if (slot.result < 0 || slot.buffer >= 0)
    return success();
  FailureOr<ValueShape> shape = shapeOfValue(kernel.getResult(slot.result));
  if (failed(shape))
    return failure();
  if (shape->bytes <= slot.end - slot.begin)
    return success();
  return mlir::emitError(kernel.getLoc())
         << describe(slot) << " has no place for " << shape->bytes << " bytes";
}

/// The function has the part in whose buffer the slot lies, and that is large
/// enough.
LogicalResult verifyHost(ArrayRef<ReturnedPart> parts, Slot slot) {
  int64_t bytes = -1;
  if (slot.buffer < static_cast<int64_t>(parts.size()))
    if (auto shape = shapeOfValue(parts[slot.buffer].value); succeeded(shape))
      bytes = shape->bytes;
  if (slot.end <= bytes)
    return success();
  return mlir::emitError(slot.kernel.getLoc())
         << describe(slot) << ", which does not exist or is smaller";
}
} // namespace

int64_t ckpt::lastReader(Value value,
                         const llvm::DenseMap<Operation *, int64_t> &position) {
  int64_t last = -1;
  for (Operation *user : value.getUsers()) {
    auto kernel = position.find(user);
    if (kernel != position.end())
      last = std::max(last, kernel->second);
    else if (user->getNumResults() == 0)
      last = position.size();
    for (Value shown : user->getResults())
      if (kernel == position.end())
        last = std::max(last, lastReader(shown, position));
  }
  return last;
}

LogicalResult ckpt::verifySlots(mlir::func::FuncOp function) {
  if (function.isExternal())
    return success();
  auto arena = function->getAttrOfType<mlir::IntegerAttr>(
      CkptDialect::arenaBytesAttrName());
  if (arena && (arena.getInt() < 0 || arena.getInt() > largestArenaBytes))
    return mlir::emitError(function.getLoc())
           << "expected an arena of at most " << largestArenaBytes
           << " bytes, but got " << arena.getInt();
  SmallVector<ReturnedPart> parts = returnedParts(function.getBody().front());
  SmallVector<Slot> slots = collectSlots(function, parts);
  if (failed(addDonated(function, parts, slots)))
    return failure();
  for (Slot &slot : slots) {
    if (!slot.kernel)
      continue;
    if (failed(verifySize(slot)))
      return failure();
    if (slot.buffer >= 0) {
      if (failed(verifyHost(parts, slot)))
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
