//===- Profile.cpp - Predicted and measured times of kernels --------------===//

#include "Profile.h"
#include "ckpt/Plan/Budget.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace ckpt;

static std::string microseconds(int64_t nanoseconds) {
  return llvm::formatv("{0:f1}", nanoseconds / 1e3).str();
}

/// Of what was measured.
static double relativeError(const ProfiledKernel &kernel) {
  return double(kernel.predicted.info.timeNs) / kernel.measuredNs - 1;
}

static void printLine(StringRef name, int64_t bytes, int64_t flops,
                      int64_t measuredNs, int64_t predictedNs,
                      llvm::raw_ostream &os) {
  os << llvm::formatv("  {0,12} {1,12} {2,8:f0}% {3,12} {4,10:f1}  {5}\n",
                      microseconds(measuredNs), microseconds(predictedNs),
                      100.0 * predictedNs / std::max<int64_t>(1, measuredNs) -
                          100,
                      plan::formatBytes(bytes), flops / 1e6, name);
}

void ckpt::printProfile(ArrayRef<ProfiledKernel> kernels, size_t most,
                        llvm::raw_ostream &os) {
  std::vector<const ProfiledKernel *> slowest;
  for (const ProfiledKernel &kernel : kernels)
    slowest.push_back(&kernel);
  llvm::stable_sort(slowest, [](auto *left, auto *right) {
    return left->measuredNs > right->measuredNs;
  });
  os << "\n  measured us   predicted    error        moved       MFLOP\n";
  std::vector<double> errors;
  int64_t measuredNs = 0, predictedNs = 0, bytes = 0, flops = 0;
  for (auto [number, kernel] : llvm::enumerate(slowest)) {
    const plan::KernelInfo &info = kernel->predicted.info;
    measuredNs += kernel->measuredNs;
    predictedNs += info.timeNs;
    bytes += info.bytesMoved;
    flops += info.flops;
    if (kernel->measuredNs > 0)
      errors.push_back(std::abs(relativeError(*kernel)));
    if (number < most)
      printLine(kernel->predicted.name, info.bytesMoved, info.flops,
                kernel->measuredNs, info.timeNs, os);
  }
  printLine("all kernels", bytes, flops, measuredNs, predictedNs, os);
  llvm::sort(errors);
  if (!errors.empty())
    os << llvm::formatv("\n  predicted time of a kernel is off by {0:f1}% in "
                        "the median, {1:f1}% "
                        "at the 90th percentile of {2} kernels\n",
                        100 * errors[errors.size() / 2],
                        100 * errors[errors.size() * 9 / 10], errors.size());
}
