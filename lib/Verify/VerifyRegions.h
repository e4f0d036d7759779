//===- VerifyRegions.h - Do regions keep their budgets? ---------*- C++ -*-===//
//
// Part of `verifyRewrite` (Verify.h), for functions with budgets of regions.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_VERIFY_VERIFYREGIONS_H
#define CKPT_LIB_VERIFY_VERIFYREGIONS_H

#include "Verify/ValueNumbering.h"

namespace ckpt {

/// Verifies that the values of the layers of each region of
/// `ckpt.region_budgets` take at most its bytes at every kernel of \p
/// rewritten. The layers are those of \p original. Values that an op outside
/// makes, too, do not count: the two cannot be told apart.
LogicalResult verifyRegions(const ProgramMeaning &rewritten,
                            const ProgramMeaning &original);

} // namespace ckpt

#endif // CKPT_LIB_VERIFY_VERIFYREGIONS_H
