//===- Device.cpp - Described devices and the time of work ----------------===//

#include "ckpt/Cost/Device.h"

#include <algorithm>
#include <map>

using namespace ckpt;

/// A device as its data sheet describes it. Rates in operations or bytes per
/// microsecond: 1,000,000 is a tera per second and 1,000 a giga. Dense rates
/// without sparsity.
static Device fromDataSheet(StringRef name, int64_t f64, int64_t f32,
                            int64_t f16, int64_t elementwise, int64_t bandwidth,
                            int64_t launchNs, StringRef source) {
  Device device;
  device.name = name.str();
  device.source = source.str();
  device.bytesPerMicrosecond = bandwidth;
  device.launchNs = launchNs;
  for (auto [type, contraction] : {std::pair(WorkType::F64, f64),
                                   {WorkType::F32, f32},
                                   {WorkType::F16, f16}}) {
    device.rate(type, WorkKind::Contraction) = contraction;
    device.rate(type, WorkKind::Elementwise) = elementwise;
  }
  return device;
}

/// Instructions that our code for sm_90a takes for one of a kind, without the
/// branches for rare operands; one in f64 counts as two.
static constexpr std::pair<WorkKind, int64_t> instructionsOfKinds[] = {
    {WorkKind::Divide, 12},
    {WorkKind::SquareRoot, 12},
    {WorkKind::Exponential, 16},
    {WorkKind::Logarithm, 30},
    {WorkKind::HyperbolicTangent, 27},
    {WorkKind::ErrorFunction, 49},
    {WorkKind::Power, 285},
    {WorkKind::Sine, 103}};

/// Data sheets give no launch time; 2 microseconds stand for a small kernel in
/// a replayed graph. Elementwise code makes half as many instructions as a data
/// sheet counts operations in f32, and in bf16 and f16 one more for each
/// rounding.
static Device gpu(StringRef name, int64_t f64, int64_t f32, int64_t f16,
                  int64_t bandwidth, StringRef source) {
  constexpr int64_t launchNs = 2000;
  int64_t instructions = f32 / 2;
  Device device = fromDataSheet(name, f64, f32, f16, instructions, bandwidth,
                                launchNs, source);
  device.rate(WorkType::F16, WorkKind::Elementwise) = instructions / 2;
  for (auto [kind, count] : instructionsOfKinds)
    for (WorkType type : {WorkType::F64, WorkType::F32, WorkType::F16})
      device.rate(type, kind) = instructions / count;
  return device;
}

static std::vector<Device> describeDevices() {
  return {
      fromDataSheet("cpu", 100000, 200000, 200000, 20000, 10000, 40,
                    "one server core: two 512-bit multiply-add units at 3.1 "
                    "GHz, a share of the memory's bandwidth, and a tenth of "
                    "the peak for elementwise code with exp and tanh in it"),
      gpu("a100", 19500000, 19500000, 312000000, 2039000,
          "NVIDIA A100 80GB SXM data sheet: FP64 tensor 19.5, FP32 "
          "19.5, BF16 tensor 312 TFLOP/s; 2,039 GB/s"),
      gpu("h100", 67000000, 67000000, 989000000, 3350000,
          "NVIDIA H100 SXM data sheet: FP64 tensor 67, FP32 67, BF16 "
          "tensor 989 TFLOP/s (1,979 with sparsity); 3.35 TB/s"),
      gpu("h200", 67000000, 67000000, 989000000, 4800000,
          "NVIDIA H200 SXM data sheet: rates of the H100; 4.8 TB/s"),
      gpu("b200", 40000000, 80000000, 2250000000, 8000000,
          "NVIDIA HGX B200 data sheet, per GPU: FP64 40, FP32 80, "
          "BF16 tensor 2,250 TFLOP/s (4,500 with sparsity); 8 TB/s"),
      gpu("l40s", 1430000, 91600000, 362000000, 864000,
          "NVIDIA L40S data sheet: FP32 91.6, BF16 tensor 362 "
          "TFLOP/s; 864 GB/s. NVIDIA Ada architecture white paper: "
          "FP64 at 1/64 of FP32"),
      gpu("rtx4090", 1290000, 82600000, 165200000, 1008000,
          "NVIDIA Ada architecture white paper, GeForce RTX 4090: "
          "FP32 82.6, BF16 tensor with FP32 accumulation 165.2 "
          "TFLOP/s; 1,008 GB/s; FP64 at 1/64"),
  };
}

ArrayRef<Device> ckpt::knownDevices() {
  static const std::vector<Device> devices = describeDevices();
  return devices;
}

std::string ckpt::describedGpu(StringRef name) {
  std::string plain = name.lower();
  llvm::erase(plain, ' ');
  for (const Device &device : knownDevices())
    if (StringRef(plain).contains(device.name))
      return device.name;
  return "";
}

/// The substitute of a kind without a rate; the kind itself if there is none.
static WorkKind substituteFor(WorkKind kind) {
  switch (kind) {
  case WorkKind::Divide:
  case WorkKind::SquareRoot:
  case WorkKind::Exponential:
  case WorkKind::Logarithm:
  case WorkKind::HyperbolicTangent:
  case WorkKind::ErrorFunction:
  case WorkKind::Power:
  case WorkKind::Sine:
    return WorkKind::Elementwise;
  default:
    return kind;
  }
}

size_t Device::cacheOf(int64_t stepBytes) const {
  auto fits = [&](const Cache &cache) { return stepBytes <= cache.bytes; };
  return std::find_if(caches.begin(), caches.end(), fits) - caches.begin();
}

int64_t Device::bandwidthOf(int64_t stepBytes) const {
  size_t cache = cacheOf(stepBytes);
  return cache < caches.size() ? caches[cache].bytesPerMicrosecond
                               : bytesPerMicrosecond;
}

int64_t Device::effectiveRate(WorkType type, WorkKind kind) const {
  const auto &ofType = rates[static_cast<unsigned>(type)];
  int64_t own = ofType[static_cast<unsigned>(kind)];
  return own > 0 ? own : ofType[static_cast<unsigned>(substituteFor(kind))];
}

int64_t Device::computePs(ArrayRef<Work> work) const {
  // In 128 bits, since amounts are multiplied by 10^6 picoseconds.
  __extension__ typedef __int128 Wide;
  // Amounts of one rate are rounded up once.
  std::map<int64_t, Wide> amounts;
  for (const Work &part : work)
    if (int64_t rate = effectiveRate(part.type, part.kind); rate > 0)
      amounts[rate] += part.amount;
  Wide picoseconds = 0;
  for (auto [rate, amount] : amounts)
    picoseconds += (amount * 1000000 + rate - 1) / rate;
  return picoseconds > INT64_MAX ? INT64_MAX
                                 : static_cast<int64_t>(picoseconds);
}
