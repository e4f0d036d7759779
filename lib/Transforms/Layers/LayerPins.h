//===- LayerPins.h - Pins of layers by patterns -----------------*- C++ -*-===//
//
// The option `pin` of `--ckpt-plan`, applied before the problem is built.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LAYERS_LAYERPINS_H
#define CKPT_LIB_TRANSFORMS_LAYERS_LAYERPINS_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Pins the layers of \p function by `PATTERN=keep|recompute,…`, over their
/// former pins; of several patterns the last that matches counts. The pins stay
/// in the program. Nothing is pinned if any part of \p pins is wrong.
LogicalResult pinLayers(mlir::func::FuncOp function, StringRef pins);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LAYERS_LAYERPINS_H
