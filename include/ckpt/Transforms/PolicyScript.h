//===- PolicyScript.h - Pins from a transform-dialect script ----*- C++ -*-===//
//
// `--ckpt-plan=policy-script=FILE` runs the script on a function before its
// problem is built.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TRANSFORMS_POLICYSCRIPT_H
#define CKPT_TRANSFORMS_POLICYSCRIPT_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Runs the named sequence `@ckpt_policy` of the file \p path on \p function:
/// the `strategy=custom` of users without C++. It says what it wants by pins,
/// `transform.annotate %layers "pin"` on layers and `"ckpt.pin"` on other ops,
/// which every strategy obeys and which stay in the program. Reports a file or
/// sequence that is missing, and whatever the interpreter reports. The
/// transform dialect must be loaded.
LogicalResult applyPolicyScript(mlir::func::FuncOp function, StringRef path);

} // namespace ckpt

#endif // CKPT_TRANSFORMS_POLICYSCRIPT_H
