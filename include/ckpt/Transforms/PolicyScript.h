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
/// the `strategy=custom` of users without C++. The sequence sets pins,
/// `transform.annotate %layers "pin"` on layers and `"ckpt.pin"` on other ops,
/// which every strategy obeys and which stay in the program. Reports a missing
/// file or sequence, and the interpreter's errors. The transform dialect must
/// be loaded.
LogicalResult applyPolicyScript(mlir::func::FuncOp function, StringRef path);

} // namespace ckpt

#endif // CKPT_TRANSFORMS_POLICYSCRIPT_H
