//===- BodyHash.h - Notices that a planned function was edited --*- C++ -*-===//
//
// `#ckpt.plan` follows op numbers, so it has to know whether the function is
// still the one that was planned. The hashes are the same on every machine and
// in every run: they are made from names and numbers, never from addresses.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_BODYHASH_H
#define CKPT_ANALYSIS_BODYHASH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Of everything that is computed: ops, types, attributes but for those of the
/// ckpt dialect, operands by number. Neither locations nor layers take part.
uint64_t hashBody(mlir::func::FuncOp function);

/// Of decisions and pins on ops and layers, by their place in the program.
uint64_t hashDecisions(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_ANALYSIS_BODYHASH_H
