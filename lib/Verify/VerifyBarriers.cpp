//===- VerifyBarriers.cpp - Are dissolved recomputations kept apart? ------===//
//
// For functions whose kernels are dissolved: without barriers, the first and
// the second run of an op have one number, and only order keeps them apart.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifyMarks.h"

using namespace ckpt;
using Number = ValueNumbering::Number;

/// Whether the barrier waits for, or passes on, something that is made after
/// \p first.
static bool waitsFor(BarrierOp barrier, Operation *first) {
  return llvm::any_of(barrier->getOperands(), [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return maker && maker->getBlock() == first->getBlock() &&
           first->isBeforeInBlock(maker);
  });
}

static LogicalResult refuse(Operation *op, Operation *first,
                            const Twine &reason) {
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(op->getLoc()) << reason;
  diagnostic.attachNote(first->getLoc()) << "its first run";
  return diagnostic;
}

LogicalResult ckpt::verifyBarriers(const ProgramMeaning &rewritten,
                                   const ProgramMeaning &original,
                                   ValueNumbering &numbering) {
  ProgramMeaning hidden(rewritten.function, numbering, Barriers::Hide);
  llvm::DenseMap<Number, size_t> wanted, mergeable;
  llvm::DenseMap<Number, Operation *> first;
  for (const OpRun &run : original.runs)
    ++wanted[run.number];
  for (auto [run, seen] : llvm::zip_equal(rewritten.runs, hidden.runs)) {
    Operation *earlier = first.try_emplace(run.number, run.op).first->second;
    if (isAnchor(run.op) && ++mergeable[seen.number] > wanted[run.number])
      return refuse(run.op, earlier,
                    "runs again, but no barrier keeps it apart from its first "
                    "run");
    if (earlier == run.op)
      continue;
    for (Value operand : run.op->getOperands())
      if (auto barrier = operand.getDefiningOp<BarrierOp>();
          barrier && !waitsFor(barrier, earlier))
        return refuse(run.op, earlier,
                      "runs again behind a barrier that waits for nothing that "
                      "is made after its first run");
  }
  return success();
}
