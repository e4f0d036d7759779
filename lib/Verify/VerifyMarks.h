//===- VerifyMarks.h - Are recomputations kept apart? -----------*- C++ -*-===//
//
// Part of `verifyRewrite` (Verify.h), after every op was found in the original:
// kernels by VerifyMarks.cpp, barriers by VerifyBarriers.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_VERIFY_VERIFYMARKS_H
#define CKPT_LIB_VERIFY_VERIFYMARKS_H

#include "Verify/ValueNumbering.h"

namespace ckpt {

/// Ops whose work is not done again by the way: all but fusible ones, views,
/// constants and empty tensors.
bool isAnchor(Operation *op);

/// Verifies that kernels which make a value again are marked, and that no pass
/// which knows only data flow can merge them with their originals: they wait
/// for a younger value.
LogicalResult verifyMarks(const ProgramMeaning &rewritten,
                          const ProgramMeaning &original);

/// The same for a function whose kernels are dissolved: barriers keep remats
/// apart from their first runs, and wait for a younger value.
LogicalResult verifyBarriers(const ProgramMeaning &rewritten,
                             const ProgramMeaning &original,
                             ValueNumbering &numbering);

} // namespace ckpt

#endif // CKPT_LIB_VERIFY_VERIFYMARKS_H
