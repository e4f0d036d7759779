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

/// That kernels which make something again say so, and that nothing which
/// knows only data flow can merge them with what they repeat: they wait for a
/// value that was made since.
LogicalResult verifyMarks(const ProgramMeaning &rewritten,
                          const ProgramMeaning &original);

/// The same for a function whose kernels are dissolved: barriers keep what runs
/// again apart from its first run, and wait for a value that was made since.
LogicalResult verifyBarriers(const ProgramMeaning &rewritten,
                             const ProgramMeaning &original,
                             ValueNumbering &numbering);

} // namespace ckpt

#endif // CKPT_LIB_VERIFY_VERIFYMARKS_H
