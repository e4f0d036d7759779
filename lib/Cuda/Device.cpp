//===- Device.cpp - Device and memory -------------------------------------===//

#include "ckpt/Cuda/Device.h"
#include "Failure.h"
#include "OpenDevice.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

using namespace ckpt::cuda;

OpenDevice ckpt::cuda::device;

/// The first compute capability with all that kernels use.
static constexpr int oldestCapability = 80;

static int capabilityOf(const DeviceInfo &info) {
  return 10 * info.major + info.minor;
}

static bool describe(const Driver &driver, DeviceNumber number,
                     DeviceInfo &info) {
  return check(driver.deviceGetName(info.name, sizeof(info.name), number),
               "ask for the device's name") &&
         check(driver.deviceGetAttribute(&info.major, computeCapabilityMajor,
                                         number),
               "ask for the device's compute capability") &&
         check(driver.deviceGetAttribute(&info.minor, computeCapabilityMinor,
                                         number),
               "ask for the device's compute capability");
}

bool ckpt::cuda::openDevice(DeviceInfo &info) {
  static DeviceNumber number = 0;
  if (device.driver)
    return describe(*device.driver, number, info);
  const Driver *driver = openDriver();
  if (!driver || !check(driver->init(0), "start the CUDA driver"))
    return false;
  int count = 0;
  if (!check(driver->deviceGetCount(&count), "count CUDA devices"))
    return false;
  if (count == 0)
    return fail("expected a CUDA device, but the driver sees none");
  if (!check(driver->deviceGet(&number, 0), "get the first CUDA device") ||
      !describe(*driver, number, info))
    return false;
  if (capabilityOf(info) < oldestCapability)
    return fail("expected a device of compute capability %d.%d or later, but "
                "'%s' has %d.%d",
                oldestCapability / 10, oldestCapability % 10, info.name,
                info.major, info.minor);
  if (!check(driver->primaryContextRetain(&device.context, number), "use '%s'",
             info.name) ||
      !check(driver->contextSetCurrent(device.context), "use '%s'",
             info.name) ||
      !check(driver->streamCreate(&device.stream, streamNonBlocking),
             "create a stream on '%s'", info.name))
    return false;
  device.driver = driver;
  return true;
}

DeviceScope::DeviceScope() {
  Context current = nullptr;
  if (check(device.driver->contextGetCurrent(&current),
            "ask for this thread's context"))
    check(device.driver->contextSetCurrent(device.context),
          "use the device in this thread");
  before = current;
}

DeviceScope::~DeviceScope() {
  device.driver->contextSetCurrent(static_cast<Context>(before));
}

/// Plain code runs on later devices too, code of a family (f) on later devices
/// of its major version, code of one chip (a) on no other.
bool ckpt::cuda::checkChip(const DeviceInfo &info, const char *chip) {
  if (std::strncmp(chip, "sm_", 3) != 0)
    return fail("expected a chip such as sm_80, but got '%s'", chip);
  char *suffix = nullptr;
  int needed = std::strtol(chip + 3, &suffix, 10);
  int present = capabilityOf(info);
  bool runs = present >= needed;
  if (*suffix == 'a')
    runs = present == needed;
  if (*suffix == 'f')
    runs = runs && needed / 10 == info.major;
  return runs || fail("the code is for %s, which '%s' of compute capability "
                      "%d.%d does not run",
                      chip, info.name, info.major, info.minor);
}

bool ckpt::cuda::readMemoryInfo(MemoryInfo &info) {
  size_t freeBytes = 0, totalBytes = 0;
  if (!check(device.driver->memGetInfo(&freeBytes, &totalBytes),
             "ask how much memory is free"))
    return false;
  info.freeBytes = freeBytes;
  info.totalBytes = totalBytes;
  return true;
}

//===----------------------------------------------------------------------===//
// StepMemory
//===----------------------------------------------------------------------===//

/// As the driver aligns allocations.
static int64_t roundUp(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// The driver refuses to allocate nothing; no memory then has no address.
static Result allocateBytes(int64_t bytes, void *&memory) {
  DeviceAddress address = 0;
  Result result =
      bytes ? device.driver->memAlloc(&address, bytes) : Result(success);
  memory = reinterpret_cast<void *>(address);
  return result;
}

namespace {
/// Bytes as people read them: "1.5 GiB".
struct Amount {
  explicit Amount(int64_t bytes) {
    const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double amount = bytes;
    size_t unit = 0;
    for (; amount >= 1024 && unit < 4; ++unit)
      amount /= 1024;
    std::snprintf(text, sizeof(text), "%.*f %s", unit ? 1 : 0, amount,
                  units[unit]);
  }
  char text[32];
};
} // namespace

static bool failMemory(int64_t arenaBytes, int64_t buffersBytes,
                       const MemoryInfo &before) {
  return fail("the plan needs %s of the device (%s for the arena, %s for "
              "arguments and results), but %s of %s are free",
              Amount(arenaBytes + buffersBytes).text, Amount(arenaBytes).text,
              Amount(buffersBytes).text, Amount(before.freeBytes).text,
              Amount(before.totalBytes).text);
}

bool StepMemory::allocate(int64_t arenaBytes, const int64_t *bufferBytes,
                          int64_t count) {
  buffersBytes = 0;
  for (int64_t i = 0; i < count; ++i)
    buffersBytes += roundUp(bufferBytes[i]);
  buffers = static_cast<void **>(std::calloc(count + 1, sizeof(void *)));
  if (!buffers)
    return fail("cannot allocate memory of the host");
  MemoryInfo before;
  if (!readMemoryInfo(before))
    return false;
  Result result = allocateBytes(arenaBytes, arenaAddress);
  if (result == success)
    result = allocateBytes(buffersBytes, buffersAddress);
  if (result == outOfMemory)
    return failMemory(arenaBytes, buffersBytes, before);
  char *next = static_cast<char *>(buffersAddress);
  for (int64_t i = 0; i < count; ++i) {
    buffers[i] = next;
    next += roundUp(bufferBytes[i]);
  }
  return check(result, "allocate memory of the device");
}

StepMemory::~StepMemory() {
  for (void *memory : {arenaAddress, buffersAddress})
    if (memory)
      device.driver->memFree(toAddress(memory));
  std::free(buffers);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

bool ckpt::cuda::copyToDevice(void *to, const void *from, int64_t bytes) {
  return bytes == 0 ||
         check(device.driver->copyToDevice(toAddress(to), from, bytes,
                                           device.stream),
               "copy %lld bytes to the device", static_cast<long long>(bytes));
}

bool ckpt::cuda::copyFromDevice(void *to, const void *from, int64_t bytes) {
  return bytes == 0 || check(device.driver->copyFromDevice(
                                 to, toAddress(from), bytes, device.stream),
                             "copy %lld bytes from the device",
                             static_cast<long long>(bytes));
}

bool ckpt::cuda::copyOnDevice(void *to, const void *from, int64_t bytes) {
  return bytes == 0 ||
         check(device.driver->copyOnDevice(toAddress(to), toAddress(from),
                                           bytes, device.stream),
               "copy %lld bytes on the device", static_cast<long long>(bytes));
}

bool ckpt::cuda::poison(void *memory, int64_t bytes) {
  return bytes == 0 || check(device.driver->setBytes(toAddress(memory), 0xFF,
                                                     bytes, device.stream),
                             "fill memory of the device");
}

bool ckpt::cuda::wait() {
  return check(device.driver->streamSynchronize(device.stream),
               "finish the work on the device");
}

bool ckpt::cuda::waitForAll() {
  return check(device.driver->contextSynchronize(),
               "finish the work of this process on the device");
}
