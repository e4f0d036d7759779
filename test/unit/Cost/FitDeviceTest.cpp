//===- FitDeviceTest.cpp - Rates from measured kernels --------------------===//
//
// The measurements are made up from a device that is known, so that the device
// that is found can be compared with it.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Cost/FitDevice.h"
#include "gtest/gtest.h"

#include <random>

using namespace ckpt;

namespace {

Device trueDevice() {
  Device device;
  device.name = "made up";
  device.source = "a test";
  device.bytesPerMicrosecond = 12000;
  device.caches = {{1000000, 90000}};
  device.launchNs = 300;
  device.lanes = 16;
  for (WorkType type : {WorkType::F64, WorkType::F32, WorkType::F16}) {
    device.rate(type, WorkKind::Contraction) = 50000;
    device.rate(type, WorkKind::Elementwise) = 4000;
  }
  device.rate(WorkType::F32, WorkKind::Contraction) = 120000;
  device.rate(WorkType::F32, WorkKind::Pack) = 9000;
  device.rate(WorkType::F32, WorkKind::Exponential) = 2000;
  device.rate(WorkType::F32, WorkKind::Reduce) = 7000;
  return device;
}

/// What is known without measuring.
Device unmeasured() {
  Device device;
  device.caches = {{1000000, 0}};
  return device;
}

/// Kernels with one to three kinds of work; some wait for memory.
std::vector<MeasuredKernel> measure(const Device &device, unsigned seed,
                                    double noise) {
  constexpr std::pair<WorkType, WorkKind> kinds[] = {
      {WorkType::F64, WorkKind::Contraction},
      {WorkType::F32, WorkKind::Contraction},
      {WorkType::F16, WorkKind::Contraction},
      {WorkType::F64, WorkKind::Elementwise},
      {WorkType::F32, WorkKind::Elementwise},
      {WorkType::F16, WorkKind::Elementwise},
      {WorkType::F32, WorkKind::Pack},
      {WorkType::F32, WorkKind::Exponential},
      {WorkType::F32, WorkKind::Reduce}};
  std::mt19937 random(seed);
  std::vector<MeasuredKernel> kernels(200);
  for (auto [number, kernel] : llvm::enumerate(kernels)) {
    unsigned parts = 1 + random() % 3;
    for (unsigned i = 0; i < parts; ++i) {
      auto [type, kind] = kinds[(number + i * 4) % std::size(kinds)];
      int64_t rate = device.effectiveRate(type, kind);
      kernel.work.work.push_back(
          {type, kind, rate * int64_t(1 + random() % 2000)});
    }
    constexpr int64_t stepBytes[] = {500000, 50000000};
    kernel.work.stepBytes = stepBytes[random() % 2];
    kernel.work.bytesMoved = device.bandwidthOf(kernel.work.stepBytes) *
                             int64_t(1 + random() % 2500);
    double off = 1 + noise * (random() % 2001 / 1000.0 - 1);
    kernel.nanoseconds = std::llround(predictNs(device, kernel.work) * off);
  }
  return kernels;
}

void expectNear(int64_t found, int64_t wanted, double share) {
  EXPECT_NEAR(double(found) / wanted, 1, share) << found << ", " << wanted;
}

void expectSame(const Device &found, const Device &wanted, double share) {
  expectNear(found.bytesPerMicrosecond, wanted.bytesPerMicrosecond, share);
  ASSERT_EQ(found.caches.size(), wanted.caches.size());
  for (size_t i = 0; i < wanted.caches.size(); ++i) {
    EXPECT_EQ(found.caches[i].bytes, wanted.caches[i].bytes);
    expectNear(found.caches[i].bytesPerMicrosecond,
               wanted.caches[i].bytesPerMicrosecond, share);
  }
  for (unsigned type = 0; type < workTypeCount; ++type)
    for (unsigned kind = 0; kind < workKindCount; ++kind) {
      if (wanted.rates[type][kind] == 0)
        EXPECT_EQ(found.rates[type][kind], 0);
      else
        expectNear(found.rates[type][kind], wanted.rates[type][kind], share);
    }
}

TEST(FitDeviceTest, RecoversTheRatesOfExactMeasurements) {
  Device device = trueDevice();
  for (unsigned seed : {1, 2, 3}) {
    auto kernels = measure(device, seed, /*noise=*/0);
    Device found = fitDevice(unmeasured(), kernels);
    expectSame(found, device, 0.02);
    EXPECT_NEAR(found.launchNs, device.launchNs, 3000);
    EXPECT_LT(errorOf(found, measure(device, seed + 10, 0)).median, 0.005);
  }
}

TEST(FitDeviceTest, StandsNoiseAndKernelsThatItDoesNotDescribe) {
  Device device = trueDevice();
  auto kernels = measure(device, 4, /*noise=*/0.1);
  for (size_t i = 0; i < kernels.size(); i += 20)
    kernels[i].nanoseconds *= 5;
  Device found = fitDevice(unmeasured(), kernels);
  expectSame(found, device, 0.15);
  EXPECT_LT(errorOf(found, measure(device, 14, 0)).median, 0.05);
}

TEST(FitDeviceTest, KeepsWhatItIsNotToFind) {
  Device device = fitDevice(trueDevice(), {});
  EXPECT_EQ(device.name, "made up");
  EXPECT_EQ(device.source, "a test");
  EXPECT_EQ(device.lanes, 16);
}

TEST(FitDeviceTest, TakesOneBandwidthForTheOther) {
  Device device = trueDevice();
  auto kernels = measure(device, 5, /*noise=*/0);
  for (bool inCache : {false, true}) {
    std::vector<MeasuredKernel> half;
    for (const MeasuredKernel &kernel : kernels)
      if ((device.cacheOf(kernel.work.stepBytes) == 0) == inCache)
        half.push_back(kernel);
    Device found = fitDevice(unmeasured(), half);
    EXPECT_EQ(found.bytesPerMicrosecond,
              found.caches.front().bytesPerMicrosecond);
    expectNear(found.bytesPerMicrosecond,
               inCache ? device.caches.front().bytesPerMicrosecond
                       : device.bytesPerMicrosecond,
               0.05);
  }
}

/// How much of the last cache a step comes by with is known to nobody.
TEST(FitDeviceTest, FindsTheCacheThatOthersShare) {
  Device device = trueDevice();
  device.caches.push_back({int64_t(32) << 20, 35000});
  constexpr int64_t stepBytes[] = {500000, 20000000, 90000000};
  std::vector<MeasuredKernel> kernels = measure(device, 6, /*noise=*/0.02);
  std::mt19937 random(6);
  for (MeasuredKernel &kernel : kernels) {
    kernel.work.stepBytes = stepBytes[random() % 3];
    kernel.nanoseconds = std::llround(predictNs(device, kernel.work));
  }
  expectSame(fitDevice(unmeasured(), kernels), device, 0.05);
}

/// A type that no kernel worked on is taken to be as fast as 32 bits.
TEST(FitDeviceTest, FillsInTypesThatWereNotMeasured) {
  MeasuredKernel kernel;
  kernel.work.work = {{WorkType::F32, WorkKind::Contraction, 1000000000},
                      {WorkType::F32, WorkKind::Elementwise, 1000}};
  kernel.nanoseconds = 10000000;
  Device found = fitDevice(Device(), {kernel});
  expectNear(found.rate(WorkType::F32, WorkKind::Contraction), 100000, 0.01);
  for (WorkType type : {WorkType::F64, WorkType::F16})
    for (WorkKind kind : {WorkKind::Contraction, WorkKind::Elementwise})
      EXPECT_EQ(found.rate(type, kind), found.rate(WorkType::F32, kind));
}

TEST(FitDeviceTest, SummarizesErrors) {
  EXPECT_DOUBLE_EQ(relativeError(150, 100), 0.5);
  EXPECT_DOUBLE_EQ(relativeError(50, 100), 0.5);
  PredictionError error =
      summarizeErrors({0.9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0});
  EXPECT_DOUBLE_EQ(error.median, 0.6);
  EXPECT_DOUBLE_EQ(error.ninetiethPercentile, 1.0);
}

} // namespace
