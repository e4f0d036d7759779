//===- Captures.h - Values that bodies take from around them ----*- C++ -*-===//

#ifndef CKPT_LIB_EXTERNALMODELS_CAPTURES_H
#define CKPT_LIB_EXTERNALMODELS_CAPTURES_H

#include "ckpt/Interfaces/RematOpInterface.h"

namespace ckpt {

/// Tensors of which the body takes elements at indices of its own are read as
/// often as they are named. A fusible op can have such an element computed when
/// it is asked for; other ops ask too often.
void appendCaptures(Operation *op, bool isFusible,
                    SmallVectorImpl<RematRead> &reads);

} // namespace ckpt

#endif // CKPT_LIB_EXTERNALMODELS_CAPTURES_H
