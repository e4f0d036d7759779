//===- PolicyScript.cpp - Pins from a transform-dialect script ------------===//

#include "ckpt/Transforms/PolicyScript.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"

using namespace ckpt;

static constexpr StringRef entryPoint = "ckpt_policy";

LogicalResult ckpt::applyPolicyScript(mlir::func::FuncOp function,
                                      StringRef path) {
  mlir::OwningOpRef<ModuleOp> script;
  if (failed(mlir::transform::detail::parseTransformModuleFromFile(
          function.getContext(), path, script)))
    return mlir::emitError(function.getLoc())
           << "could not read the policy script '" << path << "'";
  auto sequence =
      script->lookupSymbol<mlir::transform::NamedSequenceOp>(entryPoint);
  if (!sequence)
    return mlir::emitError(script->getLoc())
           << "expected a 'transform.named_sequence' called '" << entryPoint
           << "', but there is none";
  return mlir::transform::applyTransformNamedSequence(
      function, sequence, *script, mlir::transform::TransformOptions());
}
