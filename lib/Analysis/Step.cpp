//===- Step.cpp - Which function of a module is the step ------------------===//

#include "ckpt/Analysis/Step.h"

using namespace ckpt;

FailureOr<mlir::func::FuncOp> ckpt::findStep(ModuleOp module, StringRef name) {
  if (!name.empty()) {
    if (auto function = module.lookupSymbol<mlir::func::FuncOp>(name))
      return function;
    return mlir::emitError(module.getLoc())
           << "expected a function '" << name << "', but there is none";
  }
  SmallVector<mlir::func::FuncOp> candidates;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration())
      candidates.push_back(function);
  if (candidates.size() == 1)
    return candidates.front();
  mlir::InFlightDiagnostic error =
      mlir::emitError(module.getLoc())
      << "expected one public function with a body, but got "
      << candidates.size();
  if (!candidates.empty())
    error << "; name one with func=";
  for (mlir::func::FuncOp function : candidates)
    error.attachNote(function.getLoc()) << "'" << function.getName() << "'";
  return error;
}
