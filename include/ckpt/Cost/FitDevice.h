//===- FitDevice.h - A device from measured kernels -------------*- C++ -*-===//
//
// Free of any IR: a kernel is the amounts of work in it and the time that it
// took. A kernel is predicted to take the longer of its work and its memory
// traffic, plus a launch (Device.h); the rates are chosen so that predictions
// are off by little, as shares of what was measured.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_COST_FITDEVICE_H
#define CKPT_COST_FITDEVICE_H

#include "ckpt/Cost/Device.h"

namespace ckpt {

/// What one kernel does.
struct KernelWork {
  SmallVector<Work> work;
  int64_t bytesMoved = 0;
  /// Of the arguments and results of its step: they tell which cache, if any,
  /// all of it is moved by.
  int64_t stepBytes = 0;
};

struct MeasuredKernel {
  KernelWork work;
  int64_t nanoseconds = 0;
};

/// What \p kernel takes on \p device.
double predictNs(const Device &device, const KernelWork &kernel);

/// Finds bandwidths, launch time and the rates of all kinds of work that
/// \p kernels do. A cache or memory for which no kernel was measured is as fast
/// as the next that is known, and contractions and elementwise arithmetic are
/// as fast as in 32 bits; other kinds of work have no rate. \p device gives the
/// rest: name, source, lanes and the sizes of caches. If there are any, one
/// more of 4 to 256 MiB is added where that makes predictions much better.
Device fitDevice(Device device, ArrayRef<MeasuredKernel> kernels);

/// How far predictions are from what was measured, as shares of that.
struct PredictionError {
  double median = 0, ninetiethPercentile = 0;
};

/// Of one kernel; time that is too short to be measured counts as 1 ns.
double relativeError(double predictedNs, double measuredNs);
PredictionError summarizeErrors(std::vector<double> errors);
PredictionError errorOf(const Device &device, ArrayRef<MeasuredKernel> kernels);

} // namespace ckpt

#endif // CKPT_COST_FITDEVICE_H
