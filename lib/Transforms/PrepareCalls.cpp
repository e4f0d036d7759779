//===- PrepareCalls.cpp - Calls are inlined -------------------------------===//
//
// The planner decides about single ops, and a call hides those of its function.
//
//===----------------------------------------------------------------------===//

#include "PrepareSteps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
using mlir::func::CallOp;
using mlir::func::FuncOp;

namespace {
/// Preparation is no optimization that a dialect could be asked about.
struct StepInliner : mlir::InlinerInterface {
  using InlinerInterface::InlinerInterface;
  bool isLegalToInline(Operation *, Operation *, bool) const override {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool,
                       mlir::IRMapping &) const override {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool,
                       mlir::IRMapping &) const override {
    return true;
  }
};

class CallInliner {
public:
  CallInliner(FuncOp step, PreparationSummary &summary)
      : step(step), summary(summary), inliner(step.getContext()) {}

  LogicalResult run() {
    if (failed(checkCallsOf(step)) || failed(inlineAll()))
      return failure();
    eraseUnused();
    return success();
  }

private:
  FuncOp calleeOf(CallOp call) {
    return tables.lookupNearestSymbolFrom<FuncOp>(call, call.getCalleeAttr());
  }
  LogicalResult check(CallOp call);
  LogicalResult checkCallsOf(FuncOp function);
  LogicalResult inlineAll();
  void eraseUnused();

  FuncOp step;
  PreparationSummary &summary;
  StepInliner inliner;
  mlir::SymbolTableCollection tables;
  /// The functions whose calls are being followed, outermost first.
  llvm::SetVector<Operation *> path;
  /// All functions that the step calls, each behind the functions that it
  /// calls.
  llvm::SetVector<Operation *> callees;
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
  mlir::WalkResult result = function.walk([&](CallOp call) {
    return mlir::WalkResult(check(call));
  });
  path.pop_back();
  if (function != step)
    callees.insert(function);
  return failure(result.wasInterrupted());
}

/// Calls that come with an inlined body are inlined in turn.
LogicalResult CallInliner::inlineAll() {
  mlir::InlinerConfig config;
  SmallVector<CallOp> calls;
  while (true) {
    calls.clear();
    step.walk([&](CallOp call) { calls.push_back(call); });
    if (calls.empty())
      return success();
    for (CallOp call : calls) {
      FuncOp callee = calleeOf(call);
      if (failed(mlir::inlineCall(inliner, config.getCloneCallback(), call,
                                  callee, &callee.getBody())))
        return call.emitError()
               << "expected a function that can be inlined, but got '"
               << call.getCallee() << "'";
      call.erase();
      ++summary.calls;
    }
  }
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
