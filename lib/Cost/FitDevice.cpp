//===- FitDevice.cpp - The table of a device from measured kernels --------===//
//
// A norm approximates the longer of work and memory traffic. It starts as their
// sum and becomes sharper from round to round: a bad guess at the start of
// which of them a kernel waits for would stay. Each round takes predictions as
// linear near the last costs, and least squares with costs that are not
// negative give the next. Weights make a kernel count by its error, not by the
// square of it: a few kernels outside of the model shall not bend the rates of
// the others.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Cost/FitDevice.h"

#include <algorithm>
#include <cmath>

using namespace ckpt;

double ckpt::predictNs(const Device &device, const KernelWork &kernel) {
  double computeNs = 0;
  for (const Work &part : kernel.work)
    if (int64_t rate = device.effectiveRate(part.type, part.kind); rate > 0)
      computeNs += 1e3 * part.amount / rate;
  double memoryNs =
      1e3 * kernel.bytesMoved / device.bandwidthOf(kernel.stepBytes);
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
/// Numbers of the costs after the kinds of work.
static constexpr unsigned byteCost = kindTotal, mostCaches = 3;
static constexpr unsigned launchCost = byteCost + mostCaches + 1;
static constexpr unsigned costCount = launchCost + 1;

/// Nanoseconds per unit of work, byte (of each cache, then of memory) and
/// kernel.
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

namespace {
/// A measured kernel and the number of the cost of its bytes.
struct Sample {
  const KernelWork *work;
  double nanoseconds;
  unsigned byteCost;

  double memoryNs(const Costs &costs) const {
    return work->bytesMoved * costs[byteCost];
  }
};
} // namespace

/// The average error as a share of the measured time.
static double averageError(ArrayRef<Sample> samples, const Costs &costs) {
  double sum = 0;
  for (const Sample &sample : samples) {
    double ns =
        std::max(computeNs(*sample.work, costs), sample.memoryNs(costs)) +
        costs[launchCost];
    sum += std::abs(ns / sample.nanoseconds - 1);
  }
  return sum / std::max<size_t>(1, samples.size());
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
static Costs improve(ArrayRef<Sample> samples, const Costs &costs,
                     double exponent) {
  LeastSquares problem;
  for (const Sample &sample : samples) {
    constexpr double nearlyNothing = 1e-9;
    double compute = computeNs(*sample.work, costs) + nearlyNothing;
    double memory = sample.memoryNs(costs) + nearlyNothing;
    double longer = std::max(compute, memory);
    double norm = longer * std::pow(std::pow(compute / longer, exponent) +
                                        std::pow(memory / longer, exponent),
                                    1 / exponent);
    // Derivatives of the norm; it is linear in both along a ray from zero, so
    // that the costs times these are the norm itself.
    double ofCompute = std::pow(compute / norm, exponent - 1);
    double ofMemory = std::pow(memory / norm, exponent - 1);
    Costs coefficients = {};
    for (const Work &part : sample.work->work)
      coefficients[numberOf(part.type, part.kind)] +=
          ofCompute * part.amount / sample.nanoseconds;
    coefficients[sample.byteCost] =
        ofMemory * sample.work->bytesMoved / sample.nanoseconds;
    coefficients[launchCost] = 1.0 / sample.nanoseconds;
    constexpr double small = 0.03;
    double error =
        std::abs((norm + costs[launchCost]) / sample.nanoseconds - 1);
    problem.add(coefficients, 1 / std::max(error, small));
  }
  Costs solved = problem.solve(costs);
  // Half of the way, so that kernels do not change sides to and fro.
  for (unsigned i = 0; i < costCount; ++i)
    solved[i] = (solved[i] + costs[i]) / 2;
  return solved;
}

/// Units per microsecond. Work that costs nothing has a rate too, since without
/// one it would cost as much as its substitute.
static int64_t rateOf(double nanosecondsPerUnit) {
  constexpr double largest = 1e9;
  return std::llround(
      std::clamp(1e3 / std::max(nanosecondsPerUnit, 1e-9), 1.0, largest));
}

static Costs findCosts(ArrayRef<Sample> samples) {
  Costs costs;
  costs.fill(0.02);
  std::fill(&costs[byteCost], &costs[launchCost], 0.05);
  costs[launchCost] = 100;
  Costs best = costs;
  constexpr unsigned softRounds = 60, sharpRounds = 20;
  for (unsigned i = 0; i < softRounds + sharpRounds && !samples.empty(); ++i) {
    double exponent = i < softRounds ? 1 + i * i / 144.0 : 200;
    costs = improve(samples, costs, exponent);
    if (averageError(samples, costs) < averageError(samples, best))
      best = costs;
  }
  return best;
}

/// A level that no kernel was moved by is as fast as the next one further away,
/// or where there is none, the one before.
static void setBandwidths(Device &device, ArrayRef<Sample> samples,
                          const Costs &costs) {
  std::vector<int64_t> measured(device.caches.size() + 1, 0);
  for (const Sample &sample : samples)
    measured[sample.byteCost - byteCost] = rateOf(costs[sample.byteCost]);
  int64_t known = rateOf(costs[byteCost]);
  for (int64_t rate : measured)
    known = rate > 0 ? rate : known;
  for (size_t level = measured.size(); level-- > 0;) {
    known = measured[level] > 0 ? measured[level] : known;
    (level < device.caches.size() ? device.caches[level].bytesPerMicrosecond
                                  : device.bytesPerMicrosecond) = known;
  }
}

static void setRates(Device &device, ArrayRef<Sample> samples,
                     const Costs &costs) {
  for (const Sample &sample : samples)
    for (const Work &part : sample.work->work)
      device.rate(part.type, part.kind) =
          rateOf(costs[numberOf(part.type, part.kind)]);
  for (WorkKind needed : {WorkKind::Contraction, WorkKind::Elementwise})
    for (WorkType type : {WorkType::F32, WorkType::F64, WorkType::F16})
      if (device.rate(type, needed) == 0)
        device.rate(type, needed) =
            std::max<int64_t>(1, device.rate(WorkType::F32, needed));
}

/// The device with the caches that \p device has, and the average error.
static std::pair<Device, double> fitCaches(Device device,
                                           ArrayRef<MeasuredKernel> measured) {
  assert(device.caches.size() <= mostCaches && "no room for their costs");
  SmallVector<Sample> samples;
  for (const MeasuredKernel &kernel : measured)
    if (kernel.nanoseconds > 0)
      samples.push_back(
          {&kernel.work, double(kernel.nanoseconds),
           unsigned(byteCost + device.cacheOf(kernel.work.stepBytes))});
  Costs costs = findCosts(samples);
  device.launchNs = std::llround(costs[launchCost]);
  setBandwidths(device, samples, costs);
  setRates(device, samples, costs);
  return {std::move(device), averageError(samples, costs)};
}

/// The last cache is shared with other cores, and often with other machines:
/// how much of it a step comes by with shows only in times.
Device ckpt::fitDevice(Device device, ArrayRef<MeasuredKernel> measured) {
  constexpr int64_t smallest = int64_t(4) << 20, largest = int64_t(256) << 20;
  constexpr double muchLess = 0.9;
  auto [best, error] = fitCaches(device, measured);
  if (device.caches.empty())
    return best;
  double atMost = muchLess * error;
  for (int64_t bytes = smallest; bytes <= largest; bytes *= 2) {
    if (bytes <= device.caches.back().bytes)
      continue;
    Device other = device;
    other.caches.push_back({bytes, 0});
    auto [fitted, itsError] = fitCaches(std::move(other), measured);
    if (itsError < atMost) {
      best = std::move(fitted);
      atMost = itsError;
    }
  }
  return best;
}
