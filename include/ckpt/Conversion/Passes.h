//===- Passes.h - From kernels on tensors to code ---------------*- C++ -*-===//
//
// The passes of lib/Conversion, which Passes.td describes. Pipelines
// (lib/Pipelines) put them in order; `registerAllPasses` makes them known to
// tools.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CONVERSION_PASSES_H
#define CKPT_CONVERSION_PASSES_H

#include "ckpt/Conversion/TensorCores.h"
#include "mlir/Pass/Pass.h"

namespace ckpt {

#define GEN_PASS_DECL
#include "ckpt/Conversion/Passes.h.inc"

/// The function that a step with `marks` calls between kernels.
inline constexpr llvm::StringLiteral markFunctionName = "ckptMark";

#define GEN_PASS_REGISTRATION
#include "ckpt/Conversion/Passes.h.inc"

} // namespace ckpt

#endif // CKPT_CONVERSION_PASSES_H
