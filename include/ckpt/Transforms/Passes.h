//===- Passes.h - Passes that plan and rewrite ------------------*- C++ -*-===//

#ifndef CKPT_TRANSFORMS_PASSES_H
#define CKPT_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ckpt {

#define GEN_PASS_DECL
#include "ckpt/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ckpt/Transforms/Passes.h.inc"

} // namespace ckpt

#endif // CKPT_TRANSFORMS_PASSES_H
