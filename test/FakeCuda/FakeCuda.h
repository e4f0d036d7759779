//===- FakeCuda.h - A CUDA driver without a device --------------*- C++ -*-===//
//
// Stands in for libcuda.so.1 in tests. Its device is the emulator, its modules
// are LLVM IR. It is as unhelpful as a driver may be: nothing that is asked for
// happens before somebody waits; memory of the device is out of the host's
// reach, and full of NaNs at first; what may not be captured fails.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TEST_FAKECUDA_FAKECUDA_H
#define CKPT_TEST_FAKECUDA_FAKECUDA_H

#include "Cuda/Driver.h"
#include "Emulator/EmulatedModule.h"
#include <chrono>
#include <functional>
#include <map>
#include <string>

namespace fake {

using ckpt::cuda::DeviceAddress;
using ckpt::cuda::Result;

/// CUresult.
constexpr Result success = 0, invalidValue = 1, outOfMemory = 2, noDevice = 100,
                 invalidImage = 200, invalidContext = 201, invalidPtx = 218,
                 notFound = 500, notReady = 600, illegalAddress = 700,
                 captureUnsupported = 900, unknown = 999;

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// What tests ask for in CKPT_FAKE_CUDA, such as "version=11080,memory=4096".
struct Faults {
  std::string name = "fake device";
  int version = 12040;
  int devices = 1;
  int capability = 90;
  int64_t memoryBytes = int64_t(1) << 30;
  /// The function of the driver that fails, if any.
  std::string failing;
  /// The launch, counted from 1, that accesses what is not there; 0 for none.
  int64_t illegalLaunch = 0;
};
const Faults &faults();

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Result allocate(DeviceAddress &address, size_t bytes);
Result release(DeviceAddress address);
/// Whether all of it is allocated.
bool isAllocated(DeviceAddress address, size_t bytes);
int64_t freeBytes();
/// Lets this process reach the device's memory, or keeps it away.
void openMemory(bool open);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;
/// What the device's clock shows: real time, and what tasks say has passed.
Clock::time_point deviceTime();
void passTime(std::chrono::nanoseconds more);
using Task = std::function<Result()>;
using Tasks = std::vector<Task>;

struct Stream {
  Tasks waiting;
  bool captures = false;
  Tasks captured;
};

struct Event {
  bool happened = false;
  Clock::time_point time;
};

/// Adds to what \p stream will do, or to what it captures.
Result enqueue(Stream &stream, Task task);
/// Does all that waits; the first error, which then stays.
Result finish(Stream &stream);
/// Whether any stream captures.
bool isCapturing();
void countCaptures(int change);

/// A launch with copies of its arguments, which may be gone when it runs.
Task makeLaunch(const ckpt::EmulatedKernel &kernel,
                const ckpt::EmulatedLaunch &launch, void **arguments);

} // namespace fake

#endif // CKPT_TEST_FAKECUDA_FAKECUDA_H
