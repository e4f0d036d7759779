//===- CalibrationPrograms.h - Kernels to measure a device with -*- C++ -*-===//
//
// The list that Calibrate.h measures, in order.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATIONPROGRAMS_H
#define CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATIONPROGRAMS_H

#include "ckpt/Support/LLVM.h"

#include <string>
#include <vector>

namespace ckpt {

/// A step whose kernels are to be measured.
struct CalibrationProgram {
  std::string title;
  /// MLIR, as it comes from a framework.
  std::string text;
  /// Its kernels have other sizes than the kernels of the fit, and judge the
  /// predictions.
  bool heldOut = false;
};

/// Matmuls, convolutions, elementwise arithmetic, reductions and copies of many
/// sizes; with \p few of the smallest only, for tests.
std::vector<CalibrationProgram> calibrationPrograms(bool few, bool onGpu);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATIONPROGRAMS_H
