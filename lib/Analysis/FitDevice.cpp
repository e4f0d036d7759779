//===- FitDevice.cpp - The table of a device from measured kernels --------===//
//
// The longer of work and memory traffic is approximated by a norm of both,
// which starts as their sum and becomes sharper from round to round: were it
// decided from the start which of them a kernel waits for, a bad guess would
// stay. In each round, predictions are taken as linear near the costs of the
// last, and least squares with costs that are not negative give the next.
// Squares are weighted so that a kernel counts by how far it is off, not by the
// square of that: a few kernels that the model does not describe shall not bend
// the rates of the others.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Analysis/FitDevice.h"

#include <algorithm>
#include <cmath>

using namespace ckpt;

double ckpt::predictNs(const Device &device, const KernelWork &kernel) {
  double computeNs = 0;
  for (const Work &part : kernel.work)
    if (int64_t rate = device.effectiveRate(part.type, part.kind); rate > 0)
      computeNs += 1e3 * part.amount / rate;
  double memoryNs = 1e3 * kernel.bytesMoved /
                    (kernel.inCache ? device.cacheBytesPerMicrosecond
                                    : device.bytesPerMicrosecond);
  return std::max(computeNs, memoryNs) + device.launchNs;
}

double ckpt::relativeError(double predictedNs, double measuredNs) {
  return std::abs(predictedNs / std::max(measuredNs, 1.0) - 1);
}

PredictionError ckpt::summarizeErrors(std::vector<double> errors) {
  if (errors.empty())
    return {};
  llvm::sort(errors);
  return {errors[errors.size() / 2], errors[errors.size() * 9 / 10]};
}

PredictionError ckpt::errorOf(const Device &device,
                              ArrayRef<MeasuredKernel> kernels) {
  std::vector<double> errors;
  for (const MeasuredKernel &kernel : kernels)
    errors.push_back(
        relativeError(predictNs(device, kernel.work), kernel.nanoseconds));
  return summarizeErrors(std::move(errors));
}

//===----------------------------------------------------------------------===//
// The fit
//===----------------------------------------------------------------------===//

static constexpr unsigned kindTotal = workTypeCount * workKindCount;
/// Numbers of the costs after those of the kinds of work.
static constexpr unsigned byteCost = kindTotal, cacheByteCost = kindTotal + 1;
static constexpr unsigned launchCost = kindTotal + 2;
static constexpr unsigned costCount = kindTotal + 3;

/// Nanoseconds per unit of work, byte and kernel.
using Costs = std::array<double, costCount>;

static unsigned numberOf(WorkType type, WorkKind kind) {
  return static_cast<unsigned>(type) * workKindCount +
         static_cast<unsigned>(kind);
}

static double computeNs(const KernelWork &kernel, const Costs &costs) {
  double sum = 0;
  for (const Work &part : kernel.work)
    sum += part.amount * costs[numberOf(part.type, part.kind)];
  return sum;
}

static unsigned byteCostOf(const KernelWork &kernel) {
  return kernel.inCache ? cacheByteCost : byteCost;
}

static double memoryNs(const KernelWork &kernel, const Costs &costs) {
  return kernel.bytesMoved * costs[byteCostOf(kernel)];
}

/// The average error as a share of what was measured.
static double averageError(ArrayRef<MeasuredKernel> kernels,
                           const Costs &costs) {
  double sum = 0;
  for (const MeasuredKernel &kernel : kernels) {
    double ns =
        std::max(computeNs(kernel.work, costs), memoryNs(kernel.work, costs)) +
        costs[launchCost];
    sum += std::abs(ns / kernel.nanoseconds - 1);
  }
  return sum / kernels.size();
}

namespace {
/// Weighted least squares with unknowns that are not negative.
class LeastSquares {
public:
  /// Adds `sum of coefficients times unknowns = 1`.
  void add(const Costs &coefficients, double weight) {
    for (unsigned i = 0; i < costCount; ++i) {
      if (coefficients[i] == 0)
        continue;
      right[i] += weight * coefficients[i];
      for (unsigned j = 0; j < costCount; ++j)
        matrix[i][j] += weight * coefficients[i] * coefficients[j];
    }
  }

  /// Improves one unknown after the other, from \p start on.
  Costs solve(Costs start) const {
    constexpr unsigned sweeps = 400;
    for (unsigned sweep = 0; sweep < sweeps; ++sweep)
      for (unsigned i = 0; i < costCount; ++i) {
        if (matrix[i][i] == 0)
          continue;
        double residual = right[i];
        for (unsigned j = 0; j < costCount; ++j)
          residual -= matrix[i][j] * start[j];
        start[i] = std::max(0.0, start[i] + residual / matrix[i][i]);
      }
    return start;
  }

private:
  std::array<Costs, costCount> matrix = {};
  Costs right = {};
};
} // namespace

/// One round with the norm of \p exponent: solves near \p costs.
static Costs improve(ArrayRef<MeasuredKernel> kernels, const Costs &costs,
                     double exponent) {
  LeastSquares problem;
  for (const MeasuredKernel &kernel : kernels) {
    constexpr double nearlyNothing = 1e-9;
    double compute = computeNs(kernel.work, costs) + nearlyNothing;
    double memory = memoryNs(kernel.work, costs) + nearlyNothing;
    double longer = std::max(compute, memory);
    double norm = longer * std::pow(std::pow(compute / longer, exponent) +
                                        std::pow(memory / longer, exponent),
                                    1 / exponent);
    // Derivatives of the norm; it is linear in both along a ray from zero, so
    // that the costs times these are the norm itself.
    double ofCompute = std::pow(compute / norm, exponent - 1);
    double ofMemory = std::pow(memory / norm, exponent - 1);
    Costs coefficients = {};
    for (const Work &part : kernel.work.work)
      coefficients[numberOf(part.type, part.kind)] +=
          ofCompute * part.amount / kernel.nanoseconds;
    coefficients[byteCostOf(kernel.work)] =
        ofMemory * kernel.work.bytesMoved / kernel.nanoseconds;
    coefficients[launchCost] = 1.0 / kernel.nanoseconds;
    constexpr double small = 0.03;
    double error =
        std::abs((norm + costs[launchCost]) / kernel.nanoseconds - 1);
    problem.add(coefficients, 1 / std::max(error, small));
  }
  Costs solved = problem.solve(costs);
  // Half of the way, so that kernels do not change sides to and fro.
  for (unsigned i = 0; i < costCount; ++i)
    solved[i] = (solved[i] + costs[i]) / 2;
  return solved;
}

/// Units per microsecond; work that was found to cost nothing has a rate too,
/// since without one it would cost what stands in for it.
static int64_t rateOf(double nanosecondsPerUnit) {
  constexpr double largest = 1e9;
  return std::llround(
      std::clamp(1e3 / std::max(nanosecondsPerUnit, 1e-9), 1.0, largest));
}

static Costs findCosts(ArrayRef<MeasuredKernel> kernels) {
  Costs costs;
  costs.fill(0.02);
  costs[byteCost] = costs[cacheByteCost] = 0.05;
  costs[launchCost] = 100;
  Costs best = costs;
  constexpr unsigned softRounds = 60, sharpRounds = 20;
  for (unsigned i = 0; i < softRounds + sharpRounds && !kernels.empty(); ++i) {
    double exponent = i < softRounds ? 1 + i * i / 144.0 : 200;
    costs = improve(kernels, costs, exponent);
    if (averageError(kernels, costs) < averageError(kernels, best))
      best = costs;
  }
  return best;
}

static void setBandwidths(Device &device, ArrayRef<MeasuredKernel> kernels,
                          const Costs &costs) {
  bool cached = llvm::any_of(kernels, [](auto &k) { return k.work.inCache; });
  bool fetched = llvm::any_of(kernels, [](auto &k) { return !k.work.inCache; });
  device.bytesPerMicrosecond =
      rateOf(costs[fetched || !cached ? byteCost : cacheByteCost]);
  if (device.cacheBytes > 0)
    device.cacheBytesPerMicrosecond =
        rateOf(costs[cached ? cacheByteCost : byteCost]);
}

static void setRates(Device &device, ArrayRef<MeasuredKernel> kernels,
                     const Costs &costs) {
  for (const MeasuredKernel &kernel : kernels)
    for (const Work &part : kernel.work.work)
      device.rate(part.type, part.kind) =
          rateOf(costs[numberOf(part.type, part.kind)]);
  for (WorkKind needed : {WorkKind::Contraction, WorkKind::Elementwise})
    for (WorkType type : {WorkType::F32, WorkType::F64, WorkType::F16})
      if (device.rate(type, needed) == 0)
        device.rate(type, needed) =
            std::max<int64_t>(1, device.rate(WorkType::F32, needed));
}

Device ckpt::fitDevice(Device device, ArrayRef<MeasuredKernel> measured) {
  std::vector<MeasuredKernel> kernels;
  for (const MeasuredKernel &kernel : measured)
    if (kernel.nanoseconds > 0)
      kernels.push_back(kernel);
  Costs costs = findCosts(kernels);
  device.launchNs = std::llround(costs[launchCost]);
  setBandwidths(device, kernels, costs);
  setRates(device, kernels, costs);
  return device;
}
