//===- VerifyRewrite.cpp - Does a rewritten program compute the same? -----===//
//
// Numbers the values of the original and of the rewritten function by their
// meaning. Each op that runs must then be an op of the original, as often as it
// may, and returned values must have equal numbers.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifyMarks.h"
#include "Verify/VerifyRegions.h"
#include "Verify/VerifyTakeovers.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "ckpt/Verify/Verify.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

using namespace ckpt;
using Number = ValueNumbering::Number;

namespace {
class RewriteVerifier {
public:
  RewriteVerifier(mlir::func::FuncOp rewritten, mlir::func::FuncOp original)
      : original(original, numbering), rewritten(rewritten, numbering) {
    for (const OpRun &run : this->original.runs)
      originals[run.number].push_back(run.op);
  }

  LogicalResult run() {
    if (failed(verifyOps()) || failed(verifyEffects()) ||
        failed(verifyResults()))
      return failure();
    if (rewritten.kernels.empty())
      return verifyBarriers(rewritten, original, numbering);
    return failure(failed(verifyMarks(rewritten, original)) ||
                   failed(verifyRegions(rewritten, original)));
  }

private:
  LogicalResult verifyOps();
  LogicalResult verifyEffects();
  LogicalResult verifyResults();
  LogicalResult refuse(const OpRun &run);
  Operation *closest(Operation *op) const;
  size_t equalOperands(Operation *op, Operation *candidate) const;
  std::string firstDifference(Operation *op, Operation *candidate);
  std::string describe(Value value, const ProgramMeaning &program) const;

  ValueNumbering numbering;
  ProgramMeaning original, rewritten;
  /// Ops of the original, by their meaning.
  llvm::DenseMap<Number, SmallVector<Operation *, 1>> originals;
};
} // namespace

static bool mayRepeat(Operation *op) {
  return isa<RematOpInterface>(op) || mlir::isPure(op);
}

//===----------------------------------------------------------------------===//
// Ops that run
//===----------------------------------------------------------------------===//

LogicalResult RewriteVerifier::verifyOps() {
  llvm::DenseMap<Number, size_t> count;
  for (const OpRun &run : rewritten.runs) {
    // Holds nothing; whoever reads it is looked at.
    if (isa<mlir::tensor::EmptyOp>(run.op))
      continue;
    auto found = originals.find(run.number);
    if (found == originals.end())
      return refuse(run);
    if (++count[run.number] <= found->second.size() || mayRepeat(run.op))
      continue;
    mlir::InFlightDiagnostic diagnostic =
        mlir::emitError(run.op->getLoc())
        << "'" << run.op->getName() << "' runs again, but may run only once";
    diagnostic.attachNote(found->second.front()->getLoc()) << "the original";
    return diagnostic;
  }
  return success();
}

/// Each that runs is one of the original and in its place, so they are the
/// same if they are equally many.
LogicalResult RewriteVerifier::verifyEffects() {
  auto hasEffects = [](const OpRun &run) { return run.hasEffects; };
  size_t wanted = llvm::count_if(original.runs, hasEffects);
  size_t count = llvm::count_if(rewritten.runs, hasEffects);
  if (count == wanted)
    return success();
  size_t position = 0;
  for (const OpRun &run : original.runs) {
    if (!run.hasEffects || position++ < count)
      continue;
    mlir::InFlightDiagnostic diagnostic =
        mlir::emitError(rewritten.function.getLoc())
        << "'" << run.op->getName() << "' has effects, but does not run in '"
        << rewritten.function.getName() << "'";
    diagnostic.attachNote(run.op->getLoc()) << "the original";
    return diagnostic;
  }
  return failure();
}

LogicalResult RewriteVerifier::verifyResults() {
  mlir::func::FuncOp function = rewritten.function, from = original.function;
  Operation *ours = function.getBody().front().getTerminator();
  Operation *theirs = from.getBody().front().getTerminator();
  for (auto [i, pair] : llvm::enumerate(
           llvm::zip_equal(ours->getOperands(), theirs->getOperands()))) {
    auto [got, wanted] = pair;
    if (rewritten.scope.lookup(got) == original.scope.lookup(wanted))
      continue;
    mlir::InFlightDiagnostic diagnostic =
        mlir::emitError(ours->getLoc())
        << "result " << i << " of '" << function.getName() << "' is "
        << describe(got, rewritten) << ", in the original it is "
        << describe(wanted, original);
    diagnostic.attachNote(theirs->getLoc()) << "the original";
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Faults of an op
//===----------------------------------------------------------------------===//

size_t RewriteVerifier::equalOperands(Operation *op,
                                      Operation *candidate) const {
  size_t equal = 0;
  for (auto [ours, theirs] :
       llvm::zip(op->getOperands(), candidate->getOperands()))
    equal += rewritten.scope.lookup(ours) == original.scope.lookup(theirs);
  return equal;
}

/// The op of the original that \p op was most likely made from: of its name and
/// with its location, else with most in common.
Operation *RewriteVerifier::closest(Operation *op) const {
  Operation *best = nullptr;
  std::tuple<bool, size_t, bool, bool> bestScore;
  for (const OpRun &run : original.runs) {
    if (run.op->getName() != op->getName())
      continue;
    std::tuple<bool, size_t, bool, bool> score(
        run.op->getLoc() == op->getLoc(), equalOperands(op, run.op),
        run.op->getAttrDictionary() == op->getAttrDictionary(),
        run.op->getResultTypes() == op->getResultTypes());
    if (best && score <= bestScore)
      continue;
    best = run.op;
    bestScore = score;
  }
  return best;
}

/// "argument 2", or the op that makes the value.
std::string RewriteVerifier::describe(Value value,
                                      const ProgramMeaning &program) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  Number number = program.scope.lookup(value);
  mlir::func::FuncOp from = original.function;
  for (BlockArgument argument : from.getArguments())
    if (original.scope.lookup(argument) == number) {
      os << "argument " << argument.getArgNumber();
      return text;
    }
  for (auto [position, run] : llvm::enumerate(original.runs))
    for (OpResult result : run.op->getResults())
      if (original.scope.lookup(result) == number) {
        os << "result " << result.getResultNumber() << " of op " << position
           << " ('" << run.op->getName() << "')";
        return text;
      }
  os << "nothing that the original makes";
  return text;
}

std::string RewriteVerifier::firstDifference(Operation *op,
                                             Operation *candidate) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (op->getNumOperands() != candidate->getNumOperands()) {
    os << "this op has " << op->getNumOperands()
       << " operands, in the original it has " << candidate->getNumOperands();
    return text;
  }
  for (auto [i, pair] : llvm::enumerate(
           llvm::zip_equal(op->getOperands(), candidate->getOperands()))) {
    auto [ours, theirs] = pair;
    if (rewritten.scope.lookup(ours) == original.scope.lookup(theirs))
      continue;
    os << "operand " << i << " of this op is " << describe(ours, rewritten)
       << ", in the original it is " << describe(theirs, original);
    return text;
  }
  for (mlir::NamedAttribute attribute : candidate->getAttrDictionary()) {
    Attribute ours = op->getAttr(attribute.getName());
    if (!hasMeaning(attribute) ||
        (ours && numbering.attribute(ours) ==
                     numbering.attribute(attribute.getValue())))
      continue;
    os << "attribute '" << attribute.getName().getValue()
       << "' of this op is not that of the original";
    return text;
  }
  if (op->getResultTypes() != candidate->getResultTypes())
    os << "the result types of this op differ from the original's";
  else if (op->getNumRegions())
    os << "the body of this op is not that of the original";
  else
    os << "this op has an attribute more than the original";
  return text;
}

LogicalResult RewriteVerifier::refuse(const OpRun &run) {
  Operation *candidate = closest(run.op);
  if (!candidate)
    return mlir::emitError(run.op->getLoc())
           << "the original has no '" << run.op->getName() << "'";
  // An op with effects that is equal but for its place among the others.
  bool misplaced =
      run.hasEffects && numbering.op(run.op, rewritten.scope) ==
                            numbering.op(candidate, original.scope);
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(run.op->getLoc());
  diagnostic << "'" << run.op->getName() << "'";
  if (run.kernel >= 0)
    diagnostic << " in kernel " << run.kernel;
  diagnostic << ": ";
  if (misplaced)
    diagnostic << "this op has effects, but is not in its place among the ops "
                  "with effects, or runs again";
  else
    diagnostic << firstDifference(run.op, candidate);
  diagnostic.attachNote(candidate->getLoc()) << "the original";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Functions and modules
//===----------------------------------------------------------------------===//

LogicalResult ckpt::verifyRewrite(mlir::func::FuncOp rewritten,
                                  mlir::func::FuncOp original) {
  if (rewritten.getFunctionType() != original.getFunctionType()) {
    mlir::InFlightDiagnostic diagnostic =
        mlir::emitError(rewritten.getLoc())
        << "'" << rewritten.getName() << "' is a "
        << rewritten.getFunctionType() << ", in the original it is a "
        << original.getFunctionType();
    diagnostic.attachNote(original.getLoc()) << "the original";
    return diagnostic;
  }
  return RewriteVerifier(rewritten, original).run();
}

static bool hasOneBlock(Operation *op) {
  auto function = dyn_cast<mlir::func::FuncOp>(op);
  return function && function.getBody().hasOneBlock();
}

static mlir::StringAttr nameOf(Operation &op) {
  return op.getAttrOfType<mlir::StringAttr>(
      mlir::SymbolTable::getSymbolAttrName());
}

LogicalResult ckpt::verifyRewrite(ModuleOp rewritten, ModuleOp original) {
  ValueNumbering numbering;
  const llvm::DenseMap<Value, Number> empty;
  // Nested modules need no name: they match the original's in order.
  SmallVector<Operation *> unnamed;
  for (Operation &op : llvm::reverse(*original.getBody()))
    if (!nameOf(op))
      unnamed.push_back(&op);
  for (Operation &op : *rewritten.getBody()) {
    mlir::StringAttr name = nameOf(op);
    Operation *from = nullptr;
    if (name)
      from = mlir::SymbolTable::lookupSymbolIn(original, name);
    else if (!unnamed.empty())
      from = unnamed.pop_back_val();
    if (!from)
      return mlir::emitError(op.getLoc())
             << "the original has no such '" << op.getName() << "'";
    if (!hasOneBlock(&op) || !hasOneBlock(from)) {
      if (numbering.op(&op, empty) == numbering.op(from, empty))
        continue;
      mlir::InFlightDiagnostic diagnostic =
          mlir::emitError(op.getLoc())
          << "'" << (name ? name.getValue() : op.getName().getStringRef())
          << "' is not that of the original";
      diagnostic.attachNote(from->getLoc()) << "the original";
      return diagnostic;
    }
    auto function = cast<mlir::func::FuncOp>(op);
    if (failed(verifyRewrite(function, cast<mlir::func::FuncOp>(from))) ||
        failed(verifySlots(function)) || failed(verifyTakeovers(function)))
      return failure();
  }
  return success();
}

bool ckpt::isSameFunction(mlir::func::FuncOp one, mlir::func::FuncOp other) {
  ValueNumbering numbering;
  const llvm::DenseMap<Value, Number> empty;
  return numbering.op(one, empty) == numbering.op(other, empty);
}
