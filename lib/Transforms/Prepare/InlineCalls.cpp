//===- InlineCalls.cpp - Calls are inlined --------------------------------===//
//
// The planner decides about single ops, and a call hides the ops of its
// function.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
using mlir::func::CallOp;
using mlir::func::FuncOp;

namespace {
class CallInliner {
public:
  CallInliner(FuncOp step, PreparationSummary &summary)
      : step(step), summary(summary) {}

  LogicalResult run() {
    if (failed(checkCallsOf(step)))
      return failure();
    step.walk([&](CallOp call) { calls.push_back(call); });
    while (!calls.empty())
      inlineCall(calls.pop_back_val());
    eraseUnused();
    return success();
  }

private:
  FuncOp calleeOf(CallOp call) {
    return tables.lookupNearestSymbolFrom<FuncOp>(call, call.getCalleeAttr());
  }
  LogicalResult check(CallOp call);
  LogicalResult checkCallsOf(FuncOp function);
  void inlineCall(CallOp call);
  void eraseUnused();

  FuncOp step;
  PreparationSummary &summary;
  mlir::SymbolTableCollection tables;
  /// The functions whose calls are being followed, outermost first.
  llvm::SetVector<Operation *> path;
  /// All functions that the step calls, each behind the functions that it
  /// calls.
  llvm::SetVector<Operation *> callees;
  /// Calls of the step that are still there.
  SmallVector<CallOp> calls;
};
} // namespace

LogicalResult CallInliner::check(CallOp call) {
  auto refuse = [&]() {
    return call.emitError() << "expected a function that can be inlined, but '"
                            << call.getCallee() << "' ";
  };
  FuncOp callee = calleeOf(call);
  if (!callee || callee.isDeclaration())
    return refuse() << "has no body";
  if (path.contains(callee))
    return refuse() << "calls itself";
  if (callee.getNoInline())
    return refuse() << "is marked 'no_inline'";
  if (!callee.getBody().hasOneBlock())
    return refuse() << "has " << callee.getBody().getBlocks().size()
                    << " blocks instead of one";
  return callees.contains(callee) ? success() : checkCallsOf(callee);
}

LogicalResult CallInliner::checkCallsOf(FuncOp function) {
  path.insert(function);
  mlir::WalkResult result =
      function.walk([&](CallOp call) { return mlir::WalkResult(check(call)); });
  path.pop_back();
  if (function != step)
    callees.insert(function);
  return failure(result.wasInterrupted());
}

/// Upstream's inliner moves all that stands behind a call, which takes long in
/// a step of many calls.
void CallInliner::inlineCall(CallOp call) {
  FuncOp callee = calleeOf(call);
  Block &body = callee.getBody().front();
  mlir::IRMapping mapping;
  mapping.map(body.getArguments(), call.getOperands());
  OpBuilder builder(call);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping)->walk([&](Operation *inner) {
      inner->setLoc(mlir::CallSiteLoc::get(inner->getLoc(), call.getLoc()));
      if (auto next = dyn_cast<CallOp>(inner))
        calls.push_back(next);
    });
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  ++summary.calls;
}

/// From callers to callees: a function that only removed ones use goes too.
void CallInliner::eraseUnused() {
  if (callees.empty())
    return;
  mlir::SymbolUserMap users(tables, step->getParentOfType<ModuleOp>());
  llvm::SetVector<Operation *> unused;
  for (Operation *callee : llvm::reverse(callees))
    if (cast<FuncOp>(callee).isPrivate() &&
        llvm::all_of(users.getUsers(callee), [&](Operation *user) {
          return unused.contains(user->getParentOfType<FuncOp>());
        }))
      unused.insert(callee);
  for (Operation *function : unused)
    function->erase();
}

LogicalResult ckpt::inlineCalls(FuncOp step, PreparationSummary &summary) {
  return CallInliner(step, summary).run();
}
