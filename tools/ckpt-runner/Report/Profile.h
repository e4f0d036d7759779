//===- Profile.h - Predicted and measured times of kernels ------*- C++ -*-===//
//
// `--profile`: printed below the report of a run.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_REPORT_PROFILE_H
#define CKPT_TOOLS_CKPTRUNNER_REPORT_PROFILE_H

#include "Run/KernelCosts.h"

namespace ckpt {

/// Prints the slowest kernels, one line each with \p measuredNs, and below the
/// errors of all predictions.
void printProfile(ArrayRef<PredictedKernel> kernels,
                  ArrayRef<int64_t> measuredNs, llvm::raw_ostream &os);

/// Prints how many shapes of matmuls a library runs, and the measurements of \p
/// each.
void printMatmuls(bool each, llvm::raw_ostream &os);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_REPORT_PROFILE_H
