//===- Calibrate.h - Measures this machine ----------------------*- C++ -*-===//
//
// `--calibrate`: compiles and times programs of kernels, fits a device to them
// (ckpt/Cost/FitDevice.h) and writes its file.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATE_H
#define CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATE_H

#include "ckpt/Runtime/CompiledStep.h"
#include <string>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace ckpt {

struct CalibrationOptions {
  unsigned threads = 1;
  /// This machine's processor, or its GPU.
  RunDevice device = RunDevice::Cpu;
  /// Options of `--ckpt-lower-to-nvvm-pipeline`.
  std::string gpuOptions;
  /// Timed runs of each kernel in a round; the fastest of all counts.
  unsigned repeat = 2;
  unsigned rounds = 6;
  /// Measures few and small kernels, for tests.
  bool few = false;
};

/// Measures kernels, fits a device to them, writes it to \p path and prints how
/// well it predicts kernels outside of the fit. Reports failures.
LogicalResult calibrate(mlir::MLIRContext &context,
                        const CalibrationOptions &options, StringRef path);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATE_H
