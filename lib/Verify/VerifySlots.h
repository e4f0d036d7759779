//===- VerifySlots.h - How long the results of kernels live -----*- C++ -*-===//
//
// The part of `verifySlots` (Verify.h) that VerifyRegions.h needs, too.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_VERIFY_VERIFYSLOTS_H
#define CKPT_LIB_VERIFY_VERIFYSLOTS_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace ckpt {

/// The last kernel that reads \p value or a stretch of it; behind all kernels
/// if the function returns it, and -1 without a reader. \p position numbers the
/// kernels.
int64_t lastReader(Value value,
                   const llvm::DenseMap<Operation *, int64_t> &position);

} // namespace ckpt

#endif // CKPT_LIB_VERIFY_VERIFYSLOTS_H
