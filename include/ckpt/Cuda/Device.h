//===- Device.h - A step on a GPU -------------------------------*- C++ -*-===//
//
// The first GPU of this machine, through the CUDA driver, which is opened at
// run time. One stream, in order. Knows nothing of MLIR or LLVM and needs no
// runtime library of C++, so that it also serves programs that ckpt-runner
// emits.
//
// A failed call returns false or null; `failure` then names the fault in one
// sentence. After a failure the device is of no use any more, as in CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CUDA_DEVICE_H
#define CKPT_CUDA_DEVICE_H

#include "ckpt/Cuda/Matmul.h"
#include "ckpt/Cuda/TensorMap.h"
#include <cstddef>
#include <cstdint>

namespace ckpt::cuda {

/// The first failure; empty without one.
const char *failure();

/// Forgets it, in a process that goes on: too little memory is no fault of the
/// device. One that a kernel broke fails again.
void forgetFailure();

struct DeviceInfo {
  char name[256] = "";
  /// The compute capability, such as 9.0.
  int major = 0, minor = 0;
};

/// Opens the driver and its first device, which then is this thread's; again is
/// the same device.
bool openDevice(DeviceInfo &info);

/// Makes the open device this thread's, and gives the thread in the end the
/// context that it had: other libraries of the process have their own.
class DeviceScope {
public:
  DeviceScope();
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

private:
  void *before = nullptr;
};

/// Whether code for \p chip, such as sm_90a, runs on the device.
bool checkChip(const DeviceInfo &info, const char *chip);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Memory of the device, as the driver counts.
struct MemoryInfo {
  int64_t freeBytes = 0, totalBytes = 0;
};
bool readMemoryInfo(MemoryInfo &info);

/// Arena, arguments and results of a step on the device: two allocations, one
/// of them the arena.
class StepMemory {
public:
  StepMemory() = default;
  StepMemory(const StepMemory &) = delete;
  StepMemory &operator=(const StepMemory &) = delete;
  ~StepMemory();

  /// Allocates; \p bufferBytes are the bytes of each argument and result.
  bool allocate(int64_t arenaBytes, const int64_t *bufferBytes, int64_t count);

  void *arena() const { return arenaAddress; }
  /// An argument, or after these a result.
  void *buffer(int64_t number) const { return buffers[number]; }
  /// Allocated for all buffers together.
  int64_t getBuffersBytes() const { return buffersBytes; }

private:
  void *arenaAddress = nullptr, *buffersAddress = nullptr;
  void **buffers = nullptr;
  int64_t buffersBytes = 0;
};

bool copyToDevice(void *to, const void *from, int64_t bytes);
bool copyFromDevice(void *to, const void *from, int64_t bytes);
bool copyOnDevice(void *to, const void *from, int64_t bytes);
/// Sets every byte to 0xFF, a NaN in every floating-point format.
bool poison(void *memory, int64_t bytes);
/// Waits for everything that was asked for.
bool wait();
/// Waits for everything that this process asked the device for, by whichever
/// library.
bool waitForAll();

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Asks for the launches of a step.
struct Step {
  void (*launch)(void *context);
  void *context;
};

/// The runner of matmuls that lowered code offers (`ckptCudaOfferMatmul`).
enum class LibraryUse {
  /// Our kernels.
  Never,
  /// cuBLASLt where this machine has it, it is faster, and it gives the bits of
  /// our kernel on made-up numbers.
  Auto,
  /// cuBLASLt wherever it knows the shape, with the algorithm that it proposes
  /// first, and the bits of that.
  Always
};

/// The decision on one shape, for all steps of this process.
struct MatmulChoice {
  MatmulShape shape;
  /// The first kernel that has it.
  char kernel[96];
  bool byLibrary;
  /// Algorithms of the library, and the ones among them with our bits.
  int proposed, sameBits;
  /// Times of our kernel, and of the fastest algorithm with its bits; if
  /// measured.
  int64_t ownNs, libraryNs;
  MatmulChoice *next;
};

/// Loads the kernels of \p step and decides it for its matmuls, before its
/// memory is allocated: the step may be asked for with null for each address.
/// `runStep`, `StepGraph` and `launchStep` then do as was decided.
bool chooseMatmuls(const Step &step, LibraryUse use);
/// All decisions, the first of a list.
const MatmulChoice *matmulChoices();

/// Runs the step and waits after each launch, so that a failure names its
/// kernel. Loads the kernels, which must not happen later, in a capture.
bool runStep(const Step &step);

/// Asks for the step and waits once, behind the last launch.
bool launchStep(const Step &step);

/// The launches of a step, captured once. All of its addresses stay as they
/// are.
class StepGraph {
public:
  StepGraph() = default;
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;
  ~StepGraph();

  /// After `runStep`.
  bool capture(const Step &step);
  /// How often the step called `ckptCudaMark`.
  int64_t getMarkCount() const { return markCount; }
  /// The times between two marks each, of the last replay.
  bool readMarks(int64_t *nanoseconds) const;

  /// Runs it and waits; the time is the device's.
  bool replay(int64_t &nanoseconds);
  /// The median of \p repeat replays, after some that do not count: clocks
  /// rise, caches fill.
  bool time(int64_t repeat, int64_t &medianNs);

private:
  void *graph = nullptr;
  void *start = nullptr, *end = nullptr;
  void **marks = nullptr;
  int64_t markCount = 0;
};

//===----------------------------------------------------------------------===//
// Functions that `--gpu-to-llvm` calls
//===----------------------------------------------------------------------===//

extern "C" {
void *mgpuModuleLoad(void *image, size_t bytes);
void *mgpuModuleLoadJIT(void *image, int level);
void mgpuModuleUnload(void *module);
void *mgpuModuleGetFunction(void *module, const char *name);
void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t sharedBytes, void *stream,
                      void **arguments, void **extra, size_t count);
void *mgpuStreamCreate();
void mgpuStreamDestroy(void *stream);
void mgpuStreamSynchronize(void *stream);
void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream);

/// For emitted programs, instead of both `mgpuModuleLoad`: the image is packed
/// by zlib. \p level is negative if there is nothing to compile.
void *ckptModuleLoadPacked(void *image, size_t packedBytes, size_t bytes,
                           int level);

/// Called between kernels by steps that are compiled to be timed; a moment of
/// the graph that captures it.
void ckptCudaMark();
}

} // namespace ckpt::cuda

#endif // CKPT_CUDA_DEVICE_H
