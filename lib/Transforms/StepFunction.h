//===- StepFunction.h - Which function of a module is the step --*- C++ -*-===//

#ifndef CKPT_LIB_TRANSFORMS_STEPFUNCTION_H
#define CKPT_LIB_TRANSFORMS_STEPFUNCTION_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// The function called \p name, or, without a name, the only public function
/// with a body. Reports an error that lists the candidates otherwise.
FailureOr<mlir::func::FuncOp> findStep(ModuleOp module, StringRef name);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_STEPFUNCTION_H
