//===- VerifyMarks.cpp - Are recomputations kept apart? -------------------===//

#include "Verify/VerifyMarks.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace ckpt;
using Number = ValueNumbering::Number;

bool ckpt::isAnchor(Operation *op) {
  if (op->hasTrait<mlir::OpTrait::ConstantLike>() ||
      isa<mlir::tensor::EmptyOp>(op))
    return false;
  auto described = dyn_cast<RematOpInterface>(op);
  if (!described)
    return true;
  plan::OpKind kind = described.getRematKind();
  return kind != plan::OpKind::Fusible && kind != plan::OpKind::View;
}

namespace {
class MarkVerifier {
public:
  MarkVerifier(const ProgramMeaning &rewritten, const ProgramMeaning &original)
      : rewritten(rewritten), anchorsOf(rewritten.kernels.size()) {
    for (const OpRun &run : original.runs) {
      ++allowed[run.number];
      for (Value result : run.op->getResults())
        ++allowed[original.scope.lookup(result)];
    }
    for (const OpRun &run : rewritten.runs)
      if (run.kernel >= 0 && isAnchor(run.op))
        anchorsOf[run.kernel].push_back(run.number);
    for (auto [k, kernel] : llvm::enumerate(rewritten.kernels))
      positions[kernel] = k;
  }

  LogicalResult run() {
    for (size_t k = 0; k < rewritten.kernels.size(); ++k)
      if (failed(verify(k)))
        return failure();
    return success();
  }

private:
  LogicalResult verify(int64_t k);
  LogicalResult verifyWait(int64_t k, int64_t original);
  LogicalResult verifyUnmarked(KernelOp kernel, ArrayRef<Number> work);
  /// The kernel that made \p value, or -1 for a value of the caller.
  int64_t maker(Value value) const;
  bool livesPast(Value value, int64_t k) const;

  const ProgramMeaning &rewritten;
  /// By kernel: the anchors that run in it.
  std::vector<SmallVector<Number, 1>> anchorsOf;
  llvm::DenseMap<Operation *, int64_t> positions;
  /// How often the original makes a value or runs an op, and how often kernels
  /// without a mark did up to now.
  llvm::DenseMap<Number, int64_t> allowed, unmarked;
  llvm::DenseMap<Number, int64_t> firstMade;
  /// Inputs, `after` values and meanings of all kernels up to now.
  std::set<std::vector<uint64_t>> seen;
};
} // namespace

int64_t MarkVerifier::maker(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return -1;
  auto found = positions.find(op);
  if (found != positions.end())
    return found->second;
  int64_t latest = -1;
  for (Value operand : op->getOperands())
    latest = std::max(latest, maker(operand));
  return latest;
}

bool MarkVerifier::livesPast(Value value, int64_t k) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto found = positions.find(user);
    return found == positions.end() || found->second > k;
  });
}

/// A kernel that repeats \p original has to wait for a younger value. If no
/// younger value lives past the kernel, reading one must do. Directly behind
/// the original there is no younger value.
LogicalResult MarkVerifier::verifyWait(int64_t k, int64_t original) {
  KernelOp kernel = rewritten.kernels[k];
  if (k == original + 1)
    return success();
  auto isYounger = [&](Value value) { return maker(value) > original; };
  if (llvm::any_of(kernel.getAfter(), isYounger))
    return success();
  bool reads = llvm::any_of(kernel.getInputs(), isYounger);
  bool couldWait = false;
  for (int64_t since = original + 1; since < k; ++since)
    for (Value value : rewritten.kernels[since]->getResults())
      couldWait |=
          livesPast(value, k) && !llvm::is_contained(kernel.getInputs(), value);
  if (reads && !couldWait)
    return success();
  mlir::InFlightDiagnostic diagnostic =
      mlir::emitError(kernel.getLoc())
      << "expected a recomputation to wait for a value younger than "
         "its original";
  diagnostic.attachNote(KernelOp(rewritten.kernels[original]).getLoc())
      << "which this kernel made";
  return diagnostic;
}

LogicalResult MarkVerifier::verifyUnmarked(KernelOp kernel,
                                           ArrayRef<Number> work) {
  for (Number number : work) {
    if (++unmarked[number] <= allowed.lookup(number))
      continue;
    mlir::InFlightDiagnostic diagnostic =
        mlir::emitError(kernel.getLoc())
        << "makes a value of an earlier kernel again, but is not marked as a "
           "recomputation";
    diagnostic.attachNote(
        KernelOp(rewritten.kernels[firstMade.lookup(number)]).getLoc())
        << "which this kernel made";
    return diagnostic;
  }
  return success();
}

LogicalResult MarkVerifier::verify(int64_t k) {
  KernelOp kernel = rewritten.kernels[k];
  std::vector<uint64_t> meaning;
  for (Value operand : kernel->getOperands())
    meaning.push_back(
        reinterpret_cast<uintptr_t>(operand.getAsOpaquePointer()));
  llvm::SmallSetVector<Number, 4> work(anchorsOf[k].begin(),
                                       anchorsOf[k].end());
  for (Value result : kernel.getResults()) {
    work.insert(rewritten.scope.lookup(result));
    meaning.push_back(rewritten.scope.lookup(result));
  }
  int64_t original = -1;
  for (Number number : work)
    if (auto found = firstMade.find(number); found != firstMade.end())
      original = std::max(original, found->second);
  if (!kernel.getRecompute()) {
    if (failed(verifyUnmarked(kernel, work.getArrayRef())))
      return failure();
  } else if (original < 0) {
    return mlir::emitError(kernel.getLoc())
           << "is marked as a recomputation, but makes nothing again";
  } else if (failed(verifyWait(k, original))) {
    return failure();
  }
  if (!seen.insert(meaning).second && kernel.getRecompute())
    return mlir::emitError(kernel.getLoc())
           << "could be merged with an earlier kernel: it reads, waits for and "
              "makes the same";
  for (Number number : work)
    firstMade.try_emplace(number, k);
  return success();
}

LogicalResult ckpt::verifyMarks(const ProgramMeaning &rewritten,
                                const ProgramMeaning &original) {
  return MarkVerifier(rewritten, original).run();
}
