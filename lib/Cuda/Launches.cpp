//===- Launches.cpp - The functions that lowered code calls ---------------===//
//
// The functions of `--gpu-to-llvm`, by upstream's names. They return nothing
// that could report a failure, so the first failure is kept, and all later
// calls do nothing.
//
//===----------------------------------------------------------------------===//

#include "Failure.h"
#include "Launch.h"
#include "OpenDevice.h"
#include "PackedImage.h"
#include "ckpt/Cuda/Device.h"
#include <climits>
#include <cstdlib>

using namespace ckpt::cuda;

namespace {
/// Constructors of lowered code load modules before `main`, which cannot report
/// failures, and programs that never launch need no device. The first launch
/// therefore loads the modules.
struct LazyModule {
  /// One that is not packed has no size.
  PackedImage image;
  /// Level of the driver's compiler; negative if there is nothing to compile.
  int level;
  Module module;
};
} // namespace

/// Kernel of the next launch, for messages: lowered code asks for a function
/// right before it launches it.
static const char *kernelName = "";

/// Bytes that a launch may take without asking for more.
static constexpr unsigned usualSharedBytes = 48 * 1024;

static void *remember(const PackedImage &image, int level) {
  auto *lazy = static_cast<LazyModule *>(std::malloc(sizeof(LazyModule)));
  if (lazy)
    *lazy = {image, level, nullptr};
  return lazy;
}

void *ckpt::cuda::mgpuModuleLoad(void *image, size_t /*bytes*/) {
  return remember({image, 0, 0}, /*level=*/-1);
}

void *ckpt::cuda::mgpuModuleLoadJIT(void *image, int level) {
  return remember({image, 0, 0}, level);
}

void *ckpt::cuda::ckptModuleLoadPacked(void *image, size_t packedBytes,
                                       size_t bytes, int level) {
  return remember({image, packedBytes, bytes}, level);
}

void ckpt::cuda::mgpuModuleUnload(void *module) {
  auto *lazy = static_cast<LazyModule *>(module);
  if (lazy && lazy->module)
    device.driver->moduleUnload(lazy->module);
  std::free(lazy);
}

static bool load(LazyModule &lazy, const void *code) {
  char log[1024] = "";
  int options[] = {errorLog, errorLogBytes, optimizationLevel};
  void *values[] = {
      log, reinterpret_cast<void *>(sizeof(log)),
      reinterpret_cast<void *>(static_cast<intptr_t>(lazy.level))};
  unsigned count = lazy.level < 0 ? 2 : 3;
  Result result =
      device.driver->moduleLoad(&lazy.module, code, count, options, values);
  if (log[0])
    return check(result, "load the kernels, of which the driver says '%s'",
                 log);
  return check(result, "load the kernels");
}

static bool load(LazyModule &lazy) {
  if (lazy.module)
    return true;
  if (!lazy.image.bytes)
    return load(lazy, lazy.image.data);
  void *code = unpack(lazy.image);
  bool isLoaded = code && load(lazy, code);
  std::free(code);
  return isLoaded;
}

void *ckpt::cuda::mgpuModuleGetFunction(void *module, const char *name) {
  auto *lazy = static_cast<LazyModule *>(module);
  Function function = nullptr;
  kernelName = name;
  if (hasFailed() || !load(*lazy))
    return nullptr;
  check(device.driver->moduleGetFunction(&function, lazy->module, name),
        "find the kernel '%s'", name);
  return function;
}

/// Lowered code counts in 64 bits, devices in fewer.
static bool checkGrid(intptr_t x, intptr_t y, intptr_t z) {
  if (x <= INT_MAX && y <= USHRT_MAX && z <= USHRT_MAX)
    return true;
  return fail("expected at most %d x %d x %d blocks, but '%s' has %lld x %lld "
              "x %lld",
              INT_MAX, USHRT_MAX, USHRT_MAX, kernelName,
              static_cast<long long>(x), static_cast<long long>(y),
              static_cast<long long>(z));
}

bool ckpt::cuda::launchKernel(const Launch &launch) {
  const Driver &driver = *device.driver;
  if (launch.sharedBytes > usualSharedBytes &&
      !check(driver.functionSetAttribute(launch.kernel,
                                         largestDynamicSharedBytes,
                                         static_cast<int>(launch.sharedBytes)),
             "give '%s' %u bytes of shared memory", launch.name,
             launch.sharedBytes))
    return false;
  EncodedTensorMap encoded[mostTensorMaps];
  for (int i = 0; i < launch.maps.count; ++i) {
    if (!encodeTensorMap(launch, i, encoded[i]))
      return false;
    launch.arguments[launch.maps.maps[i]->parameter] = &encoded[i];
  }
  return check(
      driver.launchKernel(launch.kernel, launch.grid[0], launch.grid[1],
                          launch.grid[2], launch.block[0], launch.block[1],
                          launch.block[2], launch.sharedBytes, device.stream,
                          launch.arguments, launch.extra),
      "launch the kernel '%s'", launch.name);
}

void ckpt::cuda::mgpuLaunchKernel(void *function, intptr_t gridX,
                                  intptr_t gridY, intptr_t gridZ,
                                  intptr_t blockX, intptr_t blockY,
                                  intptr_t blockZ, int32_t sharedBytes,
                                  void * /*stream*/, void **arguments,
                                  void **extra, size_t /*count*/) {
  const MatmulShape *matmul = takeOffer();
  TensorMaps maps = takeTensorMaps();
  // A grid of no blocks has nothing to do, and the driver refuses it.
  if (gridX == 0 || gridY == 0 || gridZ == 0)
    return;
  if (hasFailed() || !checkGrid(gridX, gridY, gridZ))
    return;
  Launch launch = {kernelName,
                   static_cast<Function>(function),
                   {static_cast<unsigned>(gridX), static_cast<unsigned>(gridY),
                    static_cast<unsigned>(gridZ)},
                   {static_cast<unsigned>(blockX),
                    static_cast<unsigned>(blockY),
                    static_cast<unsigned>(blockZ)},
                   static_cast<unsigned>(sharedBytes),
                   arguments,
                   extra,
                   maps};
  if (device.onlyChooses) {
    if (matmul)
      chooseMatmul(*matmul, launch);
    return;
  }
  if (!matmul || !runByLibrary(*matmul, launch))
    launchKernel(launch);
  if (device.waitsForLaunches && !hasFailed())
    check(device.driver->streamSynchronize(device.stream),
          "run the kernel '%s'", kernelName);
}

/// There is one stream, in which all is done in order.
void *ckpt::cuda::mgpuStreamCreate() { return device.stream; }
void ckpt::cuda::mgpuStreamDestroy(void * /*stream*/) {}
void ckpt::cuda::mgpuStreamSynchronize(void * /*stream*/) {}

void ckpt::cuda::mgpuMemcpy(void *to, void *from, size_t bytes,
                            void * /*stream*/) {
  if (hasFailed() || bytes == 0 || device.onlyChooses)
    return;
  copyOnDevice(to, from, bytes);
}
