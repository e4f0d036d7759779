//===- VerifyMarks.h - Are recomputations kept apart? -----------*- C++ -*-===//

#ifndef CKPT_LIB_TRANSFORMS_VERIFYMARKS_H
#define CKPT_LIB_TRANSFORMS_VERIFYMARKS_H

#include "ValueNumbering.h"

namespace ckpt {

/// That kernels which make something again say so, and that nothing which
/// knows only data flow can merge them with what they repeat: they wait for a
/// value that was made since. In a function without kernels, that no anchor
/// could be merged with an earlier run of it.
LogicalResult verifyMarks(const ProgramMeaning &rewritten,
                          const ProgramMeaning &original);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_VERIFYMARKS_H
