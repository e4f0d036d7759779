//===- Passes.h - Passes that plan and rewrite ------------------*- C++ -*-===//

#ifndef CKPT_TRANSFORMS_PASSES_H
#define CKPT_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/JSON.h"

namespace ckpt {

#define GEN_PASS_DECL
#include "ckpt/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ckpt/Transforms/Passes.h.inc"

/// The planning pass, which also hands the figures of its report to
/// \p figures. They stay as they are where the pass fails before it has any.
std::unique_ptr<mlir::Pass> createPlanPass(llvm::json::Object &figures);

} // namespace ckpt

#endif // CKPT_TRANSFORMS_PASSES_H
