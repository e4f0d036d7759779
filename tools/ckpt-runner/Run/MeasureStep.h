//===- MeasureStep.h - Runs a planned step and measures it ------*- C++ -*-===//
//
// Called once for each way to run the step: planned, as written, without a
// budget.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_MEASURESTEP_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_MEASURESTEP_H

#include "Run/Inputs.h"
#include "ckpt/Cuda/Device.h"
#include "ckpt/Report/StepReport.h"
#include "ckpt/Runtime/CompiledStep.h"

namespace ckpt {

/// How the runner was told to run.
struct RunOptions {
  /// The step; empty for the only public function.
  std::string function;
  unsigned threads = 1;
  /// Timed runs, after a first one that is not.
  unsigned repeat = 3;
  /// Also time each kernel.
  bool timeKernels = false;
  RunDevice device = RunDevice::Cpu;
  /// Options of `--ckpt-lower-to-nvvm-pipeline`.
  std::string gpuOptions;
  /// On a GPU.
  cuda::LibraryUse matmulLibrary = cuda::LibraryUse::Never;
};

/// Bytes of a GPU's memory that a run took besides its arena.
struct DeviceMemory {
  /// Arguments and results.
  int64_t bufferBytes = 0;
  /// The driver's bytes in use: before the step's first allocation, and after
  /// its last run.
  int64_t usedBefore = 0, usedAfter = 0;
};

/// The measurements of one way to run the step.
struct Measurement {
  int64_t arenaBytes = 0;
  /// Bytes of the arena that the operating system saw touched in the first run;
  /// absent on a GPU, as are the following figures.
  int64_t touchedBytes = 0;
  /// Largest growth of the process outside arena, arguments and results while
  /// the step runs, the code that it loads included; -1 where the system does
  /// not tell.
  int64_t otherBytes = -1;
  std::optional<DeviceMemory> device;
  /// The fastest timed run; on a GPU the median.
  int64_t stepNs = 0;
  /// Times of each kernel, in order, in the fastest timed run; if asked for.
  std::vector<int64_t> kernelNs;
  int64_t compileMs = 0;
  Buffers results;
};

/// Compiles the rewritten \p module and runs it on \p arguments: once in a
/// fresh arena, then in one full of NaNs, whose results have to be the same
/// bits. Reports failures.
FailureOr<Measurement> measureModule(ModuleOp module, const RunOptions &options,
                                     const Signature &signature,
                                     const Buffers &arguments);

/// The bytes of each buffer.
std::vector<std::vector<char>> copyOf(const Buffers &buffers);

/// That two runs of a step gave other results, the first in \p difference.
llvm::Error differingRuns(StringRef difference);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_MEASURESTEP_H
