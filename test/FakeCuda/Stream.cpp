//===- Stream.cpp - What the fake device does, and when -------------------===//

#include "FakeCuda.h"
#include <cstring>

using namespace fake;

/// After an access to what is not there, everything fails until the process
/// ends.
static Result lasting = success;
static int captures = 0;
static std::chrono::nanoseconds passed{0};

Clock::time_point fake::deviceTime() { return Clock::now() + passed; }
void fake::passTime(std::chrono::nanoseconds more) { passed += more; }

bool fake::isCapturing() { return captures; }
void fake::countCaptures(int change) { captures += change; }

Result fake::enqueue(Stream &stream, Task task) {
  if (lasting)
    return lasting;
  (stream.captures ? stream.captured : stream.waiting)
      .push_back(std::move(task));
  return success;
}

Result fake::finish(Stream &stream) {
  if (stream.captures)
    return captureUnsupported;
  openMemory(true);
  for (const Task &task : stream.waiting)
    if (!lasting)
      lasting = task();
  openMemory(false);
  stream.waiting.clear();
  return lasting;
}

/// As a device finds out: pointers of a launch have to be the device's.
static bool reachesItsMemory(const ckpt::EmulatedKernel &kernel,
                             const std::vector<std::vector<char>> &values) {
  static int64_t launch = 0;
  if (++launch == faults().illegalLaunch)
    return false;
  for (size_t i = 0; i < values.size(); ++i) {
    DeviceAddress address = 0;
    if (!kernel.parameters[i].isPointer)
      continue;
    std::memcpy(&address, values[i].data(), sizeof(address));
    // A buffer of no elements may be anywhere.
    if (address && !isAllocated(address, 0))
      return false;
  }
  return true;
}

Task fake::makeLaunch(const ckpt::EmulatedKernel &kernel,
                      const ckpt::EmulatedLaunch &launch, void **arguments) {
  std::vector<std::vector<char>> values;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    auto *bytes = static_cast<char *>(arguments[i]);
    values.emplace_back(bytes, bytes + kernel.parameters[i].bytes);
  }
  return [&kernel, launch, values]() mutable {
    if (!reachesItsMemory(kernel, values))
      return illegalAddress;
    std::vector<void *> pointers;
    for (std::vector<char> &value : values)
      pointers.push_back(value.data());
    runGrid(kernel, launch, pointers.data());
    return success;
  };
}
