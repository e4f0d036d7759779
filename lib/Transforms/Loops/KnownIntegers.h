//===- KnownIntegers.h - Integers that only constants decide ----*- C++ -*-===//
//
// Counters, clamped indices and small index tables of loops, evaluated when the
// loops are unrolled. Floating-point numbers are never evaluated: the kernels
// compute functions with other bits than the host's library.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_LOOPS_KNOWNINTEGERS_H
#define CKPT_LIB_TRANSFORMS_LOOPS_KNOWNINTEGERS_H

#include "ckpt/Support/LLVM.h"
#include "llvm/ADT/APInt.h"
#include <optional>

namespace ckpt {

/// The integer \p value, a scalar or a tensor of one element, if it depends on
/// constants only and few ops compute it.
std::optional<llvm::APInt> knownInteger(Value value);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_LOOPS_KNOWNINTEGERS_H
