//===- Profile.h - Predicted and measured times of kernels ------*- C++ -*-===//
//
// `--profile`: printed below the report of a run.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_REPORT_PROFILE_H
#define CKPT_TOOLS_CKPTRUNNER_REPORT_PROFILE_H

#include "Run/KernelCosts.h"

namespace ckpt {

/// Prints the slowest kernels, one line each with what \p measuredNs says, and
/// below how far all predictions are off.
void printProfile(ArrayRef<PredictedKernel> kernels,
                  ArrayRef<int64_t> measuredNs, llvm::raw_ostream &os);

/// Prints how many shapes of matmuls a library runs, and what was measured of
/// \p each.
void printMatmuls(bool each, llvm::raw_ostream &os);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_REPORT_PROFILE_H
