//===- FitDevice.h - A device from measured kernels -------------*- C++ -*-===//
//
// Free of any IR: a kernel is its amounts of work and its measured time. The
// predicted time is the longer of work and memory traffic, plus a launch
// (Device.h). The fit chooses rates with small errors, as shares of the
// measured times.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_COST_FITDEVICE_H
#define CKPT_COST_FITDEVICE_H

#include "ckpt/Cost/Device.h"

namespace ckpt {

/// The work of one kernel.
struct KernelWork {
  SmallVector<Work> work;
  int64_t bytesMoved = 0;
  /// Bytes of the arguments and results of its step: they select the cache, if
  /// any, that moves all of it.
  int64_t stepBytes = 0;
};

struct MeasuredKernel {
  KernelWork work;
  int64_t nanoseconds = 0;
};

/// Predicted time of \p kernel on \p device.
double predictNs(const Device &device, const KernelWork &kernel);

/// Finds bandwidths, launch time and the rates of all kinds of work in \p
/// kernels. A cache or memory without measured kernels is as fast as the next
/// known one, and contractions and elementwise arithmetic are as fast as in 32
/// bits; other kinds of work have no rate. \p device gives name, source, lanes
/// and the sizes of caches. If there are any, one more of 4 to 256 MiB is added
/// if that makes predictions much better.
Device fitDevice(Device device, ArrayRef<MeasuredKernel> kernels);

/// Distances of predictions from measured times, as shares of these.
struct PredictionError {
  double median = 0, ninetiethPercentile = 0;
};

/// Error of one kernel; time that is too short to be measured counts as 1 ns.
double relativeError(double predictedNs, double measuredNs);
PredictionError summarizeErrors(std::vector<double> errors);
PredictionError errorOf(const Device &device, ArrayRef<MeasuredKernel> kernels);

} // namespace ckpt

#endif // CKPT_COST_FITDEVICE_H
