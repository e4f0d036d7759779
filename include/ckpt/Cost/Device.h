//===- Device.h - How fast the described device is --------------*- C++ -*-===//
//
// The cost model. A device is a few rates from a data sheet, or a table that
// was measured; a kernel takes the longer of its work and its memory traffic,
// plus a launch. Work is counted by kind (Work.h), and every kind has a rate.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_COST_DEVICE_H
#define CKPT_COST_DEVICE_H

#include "ckpt/Cost/Work.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace ckpt {

/// A level of caches.
struct Cache {
  int64_t bytes = 0, bytesPerMicrosecond = 0;
};

struct Device {
  std::string name;
  /// The source of the figures: a data sheet, a measurement.
  std::string source;
  int64_t bytesPerMicrosecond = 0;
  /// From the nearest on, each larger than the one before. A step whose
  /// arguments and results fit into one moves all bytes with its speed.
  std::vector<Cache> caches;
  int64_t launchNs = 0;
  /// 32-bit elements of a vector in the tiles of contractions. 0: work is
  /// counted without tiles.
  int64_t lanes = 0;
  /// Units of work per microsecond, by `WorkType` and `WorkKind`; 0 where there
  /// is none. Contractions and elementwise arithmetic have a rate in every
  /// type.
  std::array<std::array<int64_t, workKindCount>, workTypeCount> rates = {};

  /// The place in `caches` of the one that holds a step whose arguments and
  /// results are \p stepBytes, or their number if the step needs memory.
  size_t cacheOf(int64_t stepBytes) const;
  /// The bandwidth of that cache, or of memory.
  int64_t bandwidthOf(int64_t stepBytes) const;

  int64_t &rate(WorkType type, WorkKind kind) {
    return rates[static_cast<unsigned>(type)][static_cast<unsigned>(kind)];
  }
  /// The rate of \p kind, or of its substitute if there is none: arithmetic of
  /// any kind is elementwise, everything else is free (0).
  int64_t effectiveRate(WorkType type, WorkKind kind) const;

  /// Time of \p work, in picoseconds.
  int64_t computePs(ArrayRef<Work> work) const;
};

/// All devices that are described in the code; the first is the default.
ArrayRef<Device> knownDevices();

/// The known device that a GPU of this \p name is, such as h100 for "NVIDIA
/// H100 80GB HBM3"; empty if there is none.
std::string describedGpu(StringRef name);

/// The known device \p nameOrPath, or the one that the file at this path
/// describes (docs/Devices.md): whatever holds a dot or a slash is a path. The
/// error names the file and the place in it.
llvm::Expected<Device> findDevice(StringRef nameOrPath);

/// Reads the text of a file; \p path is for messages.
llvm::Expected<Device> parseDevice(StringRef text, StringRef path);

/// Writes the form that `parseDevice` reads.
void printDevice(const Device &device, llvm::raw_ostream &os);

} // namespace ckpt

#endif // CKPT_COST_DEVICE_H
