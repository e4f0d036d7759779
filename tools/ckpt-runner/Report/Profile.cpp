//===- Profile.cpp - Predicted and measured times of kernels --------------===//

#include "Report/Profile.h"
#include "ckpt/Cuda/Device.h"
#include "ckpt/Plan/Budget.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ckpt;

/// Kernels that are listed.
static constexpr size_t mostLines = 20;

static void printLine(StringRef name, const plan::KernelInfo &info,
                      int64_t measuredNs, llvm::raw_ostream &os) {
  double measured = std::max<int64_t>(1, measuredNs);
  os << llvm::formatv(
      "  {0,10:f1} us {1,10:f1} us {2,8:f0}% {3,12} {4,10:f1}"
      "  {5}\n",
      measuredNs / 1e3, info.timeNs / 1e3, 100 * (info.timeNs / measured - 1),
      plan::formatBytes(info.bytesMoved), info.flops / 1e6, name);
}

/// The error within which kernels lie that take half of the time.
static double medianByTime(ArrayRef<double> errors,
                           ArrayRef<int64_t> measuredNs) {
  std::vector<std::pair<double, int64_t>> ascending;
  int64_t left = 0;
  for (auto [error, nanoseconds] : llvm::zip_equal(errors, measuredNs)) {
    ascending.push_back({error, nanoseconds});
    left += nanoseconds;
  }
  left /= 2;
  llvm::sort(ascending);
  for (auto [error, nanoseconds] : ascending)
    if ((left -= nanoseconds) <= 0)
      return error;
  return 0;
}

void ckpt::printProfile(ArrayRef<PredictedKernel> kernels,
                        ArrayRef<int64_t> measuredNs, llvm::raw_ostream &os) {
  SmallVector<size_t> slowest =
      llvm::to_vector(llvm::seq<size_t>(kernels.size()));
  llvm::stable_sort(slowest, [&](size_t left, size_t right) {
    return measuredNs[left] > measuredNs[right];
  });
  os << "\n       measured     predicted     off        moved      MFLOP\n";
  for (size_t i : ArrayRef<size_t>(slowest).take_front(mostLines))
    printLine(kernels[i].name, kernels[i].info, measuredNs[i], os);

  plan::KernelInfo all;
  int64_t allNs = 0;
  std::vector<double> errors;
  for (auto [kernel, nanoseconds] : llvm::zip_equal(kernels, measuredNs)) {
    all.timeNs += kernel.info.timeNs;
    all.bytesMoved += kernel.info.bytesMoved;
    all.flops += kernel.info.flops;
    allNs += nanoseconds;
    errors.push_back(
        relativeError(kernel.info.timeNs, static_cast<double>(nanoseconds)));
  }
  printLine(llvm::formatv("all {0} kernels", kernels.size()).str(), all, allNs,
            os);
  double ofTime = medianByTime(errors, measuredNs);
  PredictionError error = summarizeErrors(std::move(errors));
  os << llvm::formatv(
      "\n  predicted time of a kernel: off by {0:f1}% in the "
      "median, {1:f1}% at the 90th percentile\n"
      "  half of the time is in kernels off by at most {2:f1}%\n",
      100 * error.median, 100 * error.ninetiethPercentile, 100 * ofTime);
}

static void printMatmul(const cuda::MatmulChoice &choice,
                        llvm::raw_ostream &os) {
  const cuda::MatmulShape &shape = choice.shape;
  int64_t batches = shape.batches * shape.groups;
  auto microseconds = [](int64_t nanoseconds) {
    return nanoseconds ? llvm::formatv("{0:f1} us", nanoseconds / 1e3).str()
                       : std::string("-");
  };
  os << llvm::formatv(
      "  {0,-8}{1,13}{2,13}{3,7} of {4}  {5}{6} x {7} x {8}, {9}\n",
      choice.byLibrary ? "library" : "own", microseconds(choice.ownNs),
      microseconds(choice.libraryNs), choice.sameBits, choice.proposed,
      batches > 1 ? std::to_string(batches) + " x " : std::string(), shape.rows,
      shape.columns, shape.steps, choice.kernel);
}

void ckpt::printMatmuls(bool each, llvm::raw_ostream &os) {
  int64_t shapes = 0, byLibrary = 0;
  for (auto *choice = cuda::matmulChoices(); choice; choice = choice->next) {
    if (each && shapes == 0)
      os << "\n  run by            own      library  same bits  rows x columns "
            "x steps, first kernel\n";
    if (each)
      printMatmul(*choice, os);
    ++shapes;
    byLibrary += choice->byLibrary;
  }
  os << llvm::formatv("  matmuls: {0} of {1} shapes by cuBLASLt\n", byLibrary,
                      shapes);
}
