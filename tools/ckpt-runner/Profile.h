//===- Profile.h - Predicted and measured times of kernels ------*- C++ -*-===//

#ifndef CKPT_TOOLS_CKPTRUNNER_PROFILE_H
#define CKPT_TOOLS_CKPTRUNNER_PROFILE_H

#include "KernelCosts.h"

namespace ckpt {

/// A kernel that was planned and run.
struct ProfiledKernel {
  PredictedKernel predicted;
  int64_t measuredNs = 0;
};

/// Prints one line per kernel, the slowest first, at most \p most of them, and
/// below how far the predictions are off.
void printProfile(ArrayRef<ProfiledKernel> kernels, size_t most,
                  llvm::raw_ostream &os);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_PROFILE_H
