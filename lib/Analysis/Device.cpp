//===- Device.cpp - Described devices and the time of arithmetic ----------===//

#include "ckpt/Analysis/Device.h"

using namespace ckpt;

/// Rates in operations or bytes per microsecond: 1,000,000 is a tera per second
/// and 1,000 a giga. Dense rates without sparsity. Data sheets give no launch
/// time; 2 microseconds stand for a small kernel in a replayed graph.
static const Device devices[] = {
    // One server core: two 512-bit multiply-add units at 3.1 GHz give 200
    // GFLOP/s, and its share of the memory's bandwidth is 10 GB/s. A tenth of
    // the peak stands for elementwise code with exp and tanh in it.
    {"cpu", 100000, 200000, 200000, 20000, 10000, 1000},
    // NVIDIA A100 80GB SXM data sheet: FP64 tensor 19.5, FP32 19.5, BF16 tensor
    // 312 TFLOP/s; 2,039 GB/s.
    {"a100", 19500000, 19500000, 312000000, 9750000, 2039000, 2000},
    // NVIDIA H100 SXM data sheet: FP64 tensor 67, FP32 67, BF16 tensor 989
    // TFLOP/s (1,979 with sparsity); 3.35 TB/s.
    {"h100", 67000000, 67000000, 989000000, 33500000, 3350000, 2000},
    // NVIDIA H200 SXM data sheet: rates of the H100; 4.8 TB/s.
    {"h200", 67000000, 67000000, 989000000, 33500000, 4800000, 2000},
    // NVIDIA HGX B200 data sheet, per GPU: FP64 40, FP32 80, BF16 tensor 2,250
    // TFLOP/s (4,500 with sparsity); 8 TB/s.
    {"b200", 40000000, 80000000, 2250000000, 40000000, 8000000, 2000},
    // NVIDIA L40S data sheet: FP32 91.6, BF16 tensor 362 TFLOP/s; 864 GB/s.
    // FP64 runs at 1/64 of FP32 (Ada architecture white paper).
    {"l40s", 1430000, 91600000, 362000000, 45800000, 864000, 2000},
    // NVIDIA Ada architecture white paper, GeForce RTX 4090: FP32 82.6, BF16
    // tensor with FP32 accumulation 165.2 TFLOP/s; 1,008 GB/s; FP64 at 1/64.
    {"rtx4090", 1290000, 82600000, 165200000, 41300000, 1008000, 2000},
};

ArrayRef<Device> ckpt::knownDevices() { return devices; }

const Device *ckpt::findDevice(StringRef name) {
  for (const Device &device : devices)
    if (device.name == name)
      return &device;
  return nullptr;
}

int64_t Device::computePs(plan::OpKind kind, int64_t flops,
                          Type elementType) const {
  int64_t rate = elementwiseOpsPerMicrosecond;
  if (kind == plan::OpKind::Contraction) {
    unsigned bits =
        elementType.isIntOrFloat() ? elementType.getIntOrFloatBitWidth() : 32;
    rate = bits > 32    ? f64OpsPerMicrosecond
           : bits == 32 ? f32OpsPerMicrosecond
                        : f16OpsPerMicrosecond;
  }
  // Round up in 128 bits: flops times 10^6 picoseconds per microsecond.
  __extension__ typedef __int128 Wide;
  Wide picoseconds = (Wide(flops) * 1000000 + rate - 1) / rate;
  return picoseconds > INT64_MAX ? INT64_MAX
                                 : static_cast<int64_t>(picoseconds);
}
