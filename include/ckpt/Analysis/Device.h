//===- Device.h - How fast the described device is --------------*- C++ -*-===//
//
// The cost model. A device is a few rates from a data sheet; a kernel takes the
// longer of its arithmetic and its memory traffic, plus a launch.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_DEVICE_H
#define CKPT_ANALYSIS_DEVICE_H

#include "ckpt/Plan/Problem.h"
#include "ckpt/Support/LLVM.h"

namespace ckpt {

struct Device {
  StringRef name;
  /// Operations per microsecond of contractions, by the type of what they
  /// multiply, and of everything else. A multiply-add is two.
  int64_t f64OpsPerMicrosecond;
  int64_t f32OpsPerMicrosecond;
  int64_t f16OpsPerMicrosecond;
  int64_t elementwiseOpsPerMicrosecond;
  int64_t bytesPerMicrosecond;
  int64_t launchNs;

  /// Time of \p flops operations of an op of \p kind that works on elements of
  /// \p elementType, in picoseconds.
  int64_t computePs(plan::OpKind kind, int64_t flops, Type elementType) const;
};

/// All described devices; the first is the default.
ArrayRef<Device> knownDevices();

/// The device called \p name, or null.
const Device *findDevice(StringRef name);

} // namespace ckpt

#endif // CKPT_ANALYSIS_DEVICE_H
