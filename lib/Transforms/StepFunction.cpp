//===- StepFunction.cpp - Which function of a module is the step ----------===//

#include "StepFunction.h"

using namespace ckpt;

FailureOr<mlir::func::FuncOp> ckpt::findStep(ModuleOp module, StringRef name) {
  if (!name.empty()) {
    auto function = module.lookupSymbol<mlir::func::FuncOp>(name);
    if (!function)
      return module.emitError() << "no function is called '" << name << "'";
    if (function.isExternal())
      return function.emitError() << "'" << name << "' has no body to plan";
    return function;
  }
  SmallVector<mlir::func::FuncOp> candidates;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      candidates.push_back(function);
  if (candidates.size() == 1)
    return candidates.front();
  if (candidates.empty())
    return module.emitError()
           << "expected a public function with a body, but there is none";
  mlir::InFlightDiagnostic diagnostic =
      module.emitError() << "expected one public function with a body, but "
                            "there are "
                         << candidates.size() << ": name one with 'func='";
  for (auto function : candidates)
    diagnostic.attachNote(function.getLoc())
        << "'" << function.getSymName() << "' is one";
  return diagnostic;
}
