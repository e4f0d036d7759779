//===- VerifyRegions.cpp - Do regions keep their budgets? -----------------===//
//
// The kernels of a rewritten function give the place of each value and its
// readers; the layers of the original give its makers. Both are looked at
// alone, without a plan or a problem. `--ckpt-verify` asks last, when the
// rewritten function is known to compute the same.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifyRegions.h"

#include "Verify/VerifySlots.h"
#include "ckpt/Import/Regions.h"
#include "llvm/ADT/StringSet.h"

using namespace ckpt;
using Number = ValueNumbering::Number;

/// The values that only ops of the region's layers make.
static FailureOr<llvm::DenseSet<Number>>
valuesOf(const ProgramMeaning &original, StringRef pattern) {
  FailureOr<SmallVector<StringRef>> names =
      layersOfRegion(original.function, pattern);
  if (failed(names))
    return failure();
  llvm::StringSet<> members;
  members.insert(names->begin(), names->end());
  llvm::DenseSet<Number> inside, outside;
  for (const OpRun &run : original.runs) {
    auto layer = run.op->getParentOfType<LayerOp>();
    bool isMember = layer && members.contains(layer.getName());
    for (OpResult result : run.op->getResults())
      (isMember ? inside : outside).insert(original.scope.lookup(result));
  }
  for (Number number : outside)
    inside.erase(number);
  return inside;
}

namespace {
/// A value of the region in the arena, up to its last reader.
struct Standing {
  int64_t offset, bytes, last;
};
} // namespace

/// A place that one value takes over from another counts once.
static int64_t bytesOf(ArrayRef<Standing> live) {
  llvm::DenseMap<int64_t, int64_t> places;
  for (const Standing &value : live)
    places[value.offset] = std::max(places[value.offset], value.bytes);
  int64_t bytes = 0;
  for (auto [offset, size] : places)
    bytes += size;
  return bytes;
}

static LogicalResult verifyRegion(const ProgramMeaning &rewritten,
                                  const llvm::DenseSet<Number> &inside,
                                  StringRef pattern, int64_t budgetBytes) {
  llvm::DenseMap<Operation *, int64_t> position;
  for (KernelOp kernel : rewritten.kernels)
    position.try_emplace(kernel, position.size());
  SmallVector<Standing> live;
  for (auto [at, kernel] : llvm::enumerate(rewritten.kernels)) {
    for (auto [i, result] : llvm::enumerate(KernelOp(kernel).getResults())) {
      int64_t offset = KernelOp(kernel).getOffsets()[i];
      bool isInArena = offset >= 0 && KernelOp(kernel).getHost(i) < 0;
      if (!isInArena || !inside.contains(rewritten.scope.lookup(result)))
        continue;
      live.push_back({offset, plan::slotBytes(KernelOp(kernel).getBytes()[i]),
                      lastReader(result, position)});
    }
    int64_t bytes = bytesOf(live);
    if (bytes > budgetBytes)
      return mlir::emitError(KernelOp(kernel).getLoc())
             << "region '" << pattern << "' takes " << bytes
             << " bytes at this kernel, but has a budget of " << budgetBytes;
    llvm::erase_if(live, [&, k = static_cast<int64_t>(at)](const Standing &v) {
      return v.last <= k;
    });
  }
  return success();
}

LogicalResult ckpt::verifyRegions(const ProgramMeaning &rewritten,
                                  const ProgramMeaning &original) {
  mlir::func::FuncOp function = rewritten.function;
  auto regions = function->getAttrOfType<mlir::DictionaryAttr>(
      CkptDialect::regionBudgetsAttrName());
  if (!regions)
    return success();
  for (mlir::NamedAttribute region : regions) {
    StringRef pattern = region.getName();
    FailureOr<llvm::DenseSet<Number>> inside = valuesOf(original, pattern);
    if (failed(inside) ||
        failed(
            verifyRegion(rewritten, *inside, pattern,
                         cast<mlir::IntegerAttr>(region.getValue()).getInt())))
      return failure();
  }
  return success();
}
