//===- Passes.h - Passes on programs before lowering ------------*- C++ -*-===//

#ifndef CKPT_TRANSFORMS_PASSES_H
#define CKPT_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ckpt {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "ckpt/Transforms/Passes.h.inc"

} // namespace ckpt

#endif // CKPT_TRANSFORMS_PASSES_H
