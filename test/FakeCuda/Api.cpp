//===- Api.cpp - The functions of the fake driver -------------------------===//
//
// By the names and with the types of DriverFunctions.def.
//
//===----------------------------------------------------------------------===//

#include "Emulator/EmulatedTensorMap.h"
#include "FakeCuda.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/TargetSelect.h"
#include <cstdio>
#include <cstring>

using namespace fake;
using ckpt::EmulatedKernel;
using ckpt::EmulatedModule;

#define CKPT_FAKE(function)                                                    \
  extern "C" __attribute__((visibility("default"))) Result function
#define CKPT_MAY_FAIL                                                          \
  if (faults().failing == __func__)                                            \
  return unknown
#define CKPT_NOT_IN_CAPTURE                                                    \
  if (isCapturing())                                                           \
  return captureUnsupported

/// Each thread has a context or none, and says so first.
static thread_local void *currentContext = nullptr;
#define CKPT_NEEDS_CONTEXT                                                     \
  if (!currentContext)                                                         \
  return invalidContext

static void *toPointer(DeviceAddress address) {
  return reinterpret_cast<void *>(address);
}

//===----------------------------------------------------------------------===//
// Driver and device
//===----------------------------------------------------------------------===//

static const std::map<Result, std::pair<const char *, const char *>> errors = {
    {invalidValue, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {outOfMemory, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {invalidContext, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {noDevice, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {invalidImage,
     {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {invalidPtx, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {notFound, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {notReady, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {illegalAddress,
     {"CUDA_ERROR_ILLEGAL_ADDRESS",
      "an illegal memory access was encountered"}},
    {captureUnsupported,
     {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
      "operation not permitted when stream is capturing"}},
    {unknown, {"CUDA_ERROR_UNKNOWN", "unknown error"}},
};

CKPT_FAKE(cuGetErrorName)(Result result, const char **name) {
  *name = errors.at(result).first;
  return success;
}

CKPT_FAKE(cuGetErrorString)(Result result, const char **words) {
  *words = errors.at(result).second;
  return success;
}

CKPT_FAKE(cuDriverGetVersion)(int *version) {
  CKPT_MAY_FAIL;
  *version = faults().version;
  return success;
}

CKPT_FAKE(cuInit)(unsigned /*flags*/) {
  CKPT_MAY_FAIL;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  return faults().devices ? success : noDevice;
}

CKPT_FAKE(cuDeviceGetCount)(int *count) {
  CKPT_MAY_FAIL;
  *count = faults().devices;
  return success;
}

CKPT_FAKE(cuDeviceGet)(int *device, int index) {
  CKPT_MAY_FAIL;
  *device = index;
  return success;
}

CKPT_FAKE(cuDeviceGetName)(char *name, int capacity, int /*device*/) {
  CKPT_MAY_FAIL;
  std::snprintf(name, capacity, "%s", faults().name.c_str());
  return success;
}

CKPT_FAKE(cuDeviceGetAttribute)(int *value, int attribute, int /*device*/) {
  CKPT_MAY_FAIL;
  bool isMajor = attribute == ckpt::cuda::computeCapabilityMajor;
  *value = isMajor ? faults().capability / 10 : faults().capability % 10;
  return success;
}

CKPT_FAKE(cuDevicePrimaryCtxRetain)(void **context, int /*device*/) {
  CKPT_MAY_FAIL;
  static int only;
  *context = &only;
  return success;
}

CKPT_FAKE(cuCtxGetCurrent)(void **context) {
  CKPT_MAY_FAIL;
  *context = currentContext;
  return success;
}

CKPT_FAKE(cuCtxSetCurrent)(void *context) {
  CKPT_MAY_FAIL;
  currentContext = context;
  return success;
}

CKPT_FAKE(cuCtxSynchronize)() {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  CKPT_NOT_IN_CAPTURE;
  return success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

CKPT_FAKE(cuMemAlloc_v2)(DeviceAddress *address, size_t bytes) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  CKPT_NOT_IN_CAPTURE;
  return allocate(*address, bytes);
}

CKPT_FAKE(cuMemFree_v2)(DeviceAddress address) {
  CKPT_NEEDS_CONTEXT;
  CKPT_NOT_IN_CAPTURE;
  return release(address);
}

CKPT_FAKE(cuMemGetInfo_v2)(size_t *free, size_t *total) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  *free = freeBytes();
  *total = faults().memoryBytes;
  return success;
}

CKPT_FAKE(cuMemcpyHtoDAsync_v2)
(DeviceAddress to, const void *from, size_t bytes, Stream *stream) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  CKPT_NOT_IN_CAPTURE;
  if (!isAllocated(to, bytes))
    return invalidValue;
  return enqueue(*stream, [=] {
    std::memcpy(toPointer(to), from, bytes);
    return success;
  });
}

CKPT_FAKE(cuMemcpyDtoHAsync_v2)
(void *to, DeviceAddress from, size_t bytes, Stream *stream) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  CKPT_NOT_IN_CAPTURE;
  if (!isAllocated(from, bytes))
    return invalidValue;
  return enqueue(*stream, [=] {
    std::memcpy(to, toPointer(from), bytes);
    return success;
  });
}

CKPT_FAKE(cuMemcpyDtoDAsync_v2)
(DeviceAddress to, DeviceAddress from, size_t bytes, Stream *stream) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  if (!isAllocated(to, bytes) || !isAllocated(from, bytes))
    return invalidValue;
  return enqueue(*stream, [=] {
    std::memcpy(toPointer(to), toPointer(from), bytes);
    return success;
  });
}

CKPT_FAKE(cuMemsetD8Async)
(DeviceAddress to, unsigned char value, size_t bytes, Stream *stream) {
  CKPT_MAY_FAIL;
  if (!isAllocated(to, bytes))
    return invalidValue;
  return enqueue(*stream, [=] {
    std::memset(toPointer(to), value, bytes);
    return success;
  });
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// Bitcode does not say how long it is, but each of its blocks does.
static llvm::StringRef bitcodeAt(const char *image) {
  constexpr uint32_t magic = 0xdec04342, enterBlock = 1;
  auto word = [&](size_t at) {
    return llvm::support::endian::read32le(image + at);
  };
  if (word(0) != magic)
    return "";
  auto startsBlock = [&](size_t at) {
    uint32_t block = word(at) >> 2 & 0xff;
    // Module, identification, string table, symbol table.
    return (word(at) & 3) == enterBlock &&
           (block == 8 || block == 13 || block == 23 || block == 25);
  };
  size_t bytes = 4;
  while (startsBlock(bytes))
    bytes += 8 + 4 * size_t(word(bytes + 4));
  return {image, bytes};
}

static Result refuse(Result result, llvm::StringRef words, unsigned count,
                     int *options, void **values) {
  char *log = nullptr;
  size_t capacity = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == ckpt::cuda::errorLog)
      log = static_cast<char *>(values[i]);
    if (options[i] == ckpt::cuda::errorLogBytes)
      capacity = reinterpret_cast<uintptr_t>(values[i]);
  }
  std::snprintf(log, capacity, "%s", words.str().c_str());
  return result;
}

CKPT_FAKE(cuModuleLoadDataEx)
(EmulatedModule **module, const char *image, unsigned count, int *options,
 void **values) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  CKPT_NOT_IN_CAPTURE;
  llvm::StringRef bitcode = bitcodeAt(image);
  if (bitcode.empty())
    return refuse(invalidPtx, "the fake device only runs LLVM IR", count,
                  options, values);
  auto loaded = EmulatedModule::load(bitcode);
  if (!loaded)
    return refuse(invalidImage, llvm::toString(loaded.takeError()), count,
                  options, values);
  *module = loaded->release();
  return success;
}

CKPT_FAKE(cuModuleUnload)(EmulatedModule *module) {
  delete module;
  return success;
}

CKPT_FAKE(cuModuleGetFunction)
(const EmulatedKernel **function, EmulatedModule *module, const char *name) {
  CKPT_MAY_FAIL;
  *function = module->getKernel(name);
  return *function ? success : notFound;
}

/// Shared memory that launches of a kernel may ask for, where that was raised.
static std::map<const EmulatedKernel *, unsigned> raisedSharedBytes;
static constexpr unsigned usualSharedBytes = 48 * 1024;
static constexpr int largestDynamicSharedBytes = 8;

CKPT_FAKE(cuFuncSetAttribute)
(const EmulatedKernel *function, int attribute, int value) {
  CKPT_MAY_FAIL;
  if (attribute != largestDynamicSharedBytes || value < 0 ||
      value > ckpt::mostLaunchBytes)
    return invalidValue;
  raisedSharedBytes[function] = value;
  return success;
}

static unsigned mostSharedBytes(const EmulatedKernel *function) {
  auto raised = raisedSharedBytes.find(function);
  return raised == raisedSharedBytes.end() ? usualSharedBytes : raised->second;
}

CKPT_FAKE(cuLaunchKernel)
(const EmulatedKernel *function, unsigned gridX, unsigned gridY, unsigned gridZ,
 unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
 Stream *stream, void **arguments, void ** /*extra*/) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  if (!gridX || !gridY || !gridZ || !threads || threads > 1024 ||
      sharedBytes > mostSharedBytes(function))
    return invalidValue;
  ckpt::EmulatedLaunch launch = {
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
  return enqueue(*stream, makeLaunch(*function, launch, arguments));
}

CKPT_FAKE(cuTensorMapEncodeTiled)
(ckpt::cuda::EncodedTensorMap *map, int element, uint32_t rank, void *address,
 const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
 const uint32_t *elementStrides, int interleave, int swizzle, int /*promotion*/,
 int fill) {
  CKPT_MAY_FAIL;
  using Counts = ckpt::EmulatedTensorMap::Counts;
  if (element != ckpt::cuda::elementOf16Bits || rank < 1 ||
      rank > ckpt::cuda::mostTensorDims || interleave || fill ||
      swizzle != ckpt::cuda::swizzleOf128Bytes ||
      reinterpret_cast<uintptr_t>(map) % 64 || faults().capability < 90)
    return invalidValue;
  Counts extent = {}, stride = {}, side = {};
  for (uint32_t i = 0; i < rank; ++i) {
    extent[i] = extents[i];
    stride[i] = i ? strides[i - 1] : ckpt::cuda::tensorElementBytes;
    side[i] = box[i];
    if (elementStrides[i] != 1)
      return invalidValue;
  }
  ckpt::EmulatedTensorMap made;
  if (!ckpt::EmulatedTensorMap::make(static_cast<char *>(address), rank, extent,
                                     stride, side, made)
           .empty())
    return invalidValue;
  made.write(map);
  return success;
}

//===----------------------------------------------------------------------===//
// What other libraries call
//===----------------------------------------------------------------------===//

/// How a library adds what it computes to a stream or to what it captures.
CKPT_FAKE(cuLaunchHostFunc)
(Stream *stream, void (*function)(void *), void *data) {
  return enqueue(*stream, [=] {
    function(data);
    return success;
  });
}

/// Of no driver: lets the fake libraries say how long they take.
extern "C" __attribute__((visibility("default"))) void
ckptFakePassTime(int64_t nanoseconds) {
  passTime(std::chrono::nanoseconds(nanoseconds));
}

/// Of no driver: whether a library was given memory of the device.
extern "C" __attribute__((visibility("default"))) bool
ckptFakeIsAllocated(DeviceAddress address, size_t bytes) {
  return isAllocated(address, bytes);
}

//===----------------------------------------------------------------------===//
// Streams, graphs, events
//===----------------------------------------------------------------------===//

CKPT_FAKE(cuStreamCreate)(Stream **stream, unsigned /*flags*/) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  *stream = new Stream();
  return success;
}

CKPT_FAKE(cuStreamSynchronize)(Stream *stream) {
  CKPT_MAY_FAIL;
  return finish(*stream);
}

CKPT_FAKE(cuStreamBeginCapture_v2)(Stream *stream, int /*mode*/) {
  CKPT_MAY_FAIL;
  if (stream->captures)
    return invalidValue;
  stream->captures = true;
  countCaptures(1);
  return success;
}

CKPT_FAKE(cuStreamEndCapture)(Stream *stream, Tasks **graph) {
  CKPT_MAY_FAIL;
  *graph = new Tasks(std::move(stream->captured));
  stream->captured.clear();
  stream->captures = false;
  countCaptures(-1);
  return success;
}

CKPT_FAKE(cuGraphInstantiateWithFlags)
(Tasks **ready, Tasks *graph, uint64_t /*flags*/) {
  CKPT_MAY_FAIL;
  *ready = new Tasks(*graph);
  return success;
}

CKPT_FAKE(cuGraphLaunch)(Tasks *ready, Stream *stream) {
  CKPT_MAY_FAIL;
  CKPT_NEEDS_CONTEXT;
  for (const Task &task : *ready)
    if (Result result = enqueue(*stream, task))
      return result;
  return success;
}

CKPT_FAKE(cuGraphDestroy)(Tasks *graph) {
  delete graph;
  return success;
}

CKPT_FAKE(cuGraphExecDestroy)(Tasks *ready) {
  delete ready;
  return success;
}

CKPT_FAKE(cuEventCreate)(Event **event, unsigned /*flags*/) {
  CKPT_MAY_FAIL;
  *event = new Event();
  return success;
}

CKPT_FAKE(cuEventDestroy_v2)(Event *event) {
  delete event;
  return success;
}

static Result record(Event *event, Stream *stream) {
  event->happened = false;
  return enqueue(*stream, [event] {
    event->happened = true;
    event->time = deviceTime();
    return success;
  });
}

/// In a capture it orders, and does not happen.
CKPT_FAKE(cuEventRecord)(Event *event, Stream *stream) {
  CKPT_MAY_FAIL;
  return stream->captures ? success : record(event, stream);
}

CKPT_FAKE(cuEventRecordWithFlags)
(Event *event, Stream *stream, unsigned flags) {
  CKPT_MAY_FAIL;
  if (!stream->captures || flags != ckpt::cuda::recordInGraph)
    return invalidValue;
  return record(event, stream);
}

CKPT_FAKE(cuEventElapsedTime)(float *milliseconds, Event *from, Event *to) {
  CKPT_MAY_FAIL;
  if (!from->happened || !to->happened)
    return notReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return success;
}
