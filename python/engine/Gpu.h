//===- Gpu.h - The GPU in the process of Python -----------------*- C++ -*-===//
//
// Calls of lib/Cuda by any thread of Python (engine.cpp): one at a time, with
// the device open in that thread, and failures as exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ENGINE_GPU_H
#define CKPT_ENGINE_GPU_H

#include "ckpt/Cuda/Device.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ckpt::engine {

namespace nb = nanobind;

/// A GPU that is missing, short of memory or at fault.
struct GpuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Of everything that lib/Cuda has once.
inline std::mutex gpuMutex;

/// Throws the failure of lib/Cuda, which the next call then starts without.
[[noreturn]] inline void throwGpuError() {
  std::string text = cuda::failure();
  cuda::forgetFailure();
  throw GpuError(text);
}

/// Calls \p work on the open GPU; false is a failure. The GIL is free.
template <typename Work>
void onGpu(Work work) {
  std::lock_guard<std::mutex> guard(gpuMutex);
  cuda::DeviceScope scope;
  if (!work() || cuda::failure()[0])
    throwGpuError();
}

/// The same for destructors.
template <typename Work>
void releaseOnGpu(Work work) {
  std::lock_guard<std::mutex> guard(gpuMutex);
  cuda::DeviceScope scope;
  work();
}

/// Memory of the GPU.
class GpuMemory {
public:
  enum class Use { Arena, Buffers };

  GpuMemory(int64_t bytes, Use use) : use(use) {
    memory.emplace();
    bool isArena = use == Use::Arena;
    onGpu([&] {
      return memory->allocate(isArena ? bytes : 0, &bytes, isArena ? 0 : 1);
    });
  }
  ~GpuMemory() {
    releaseOnGpu([&] { memory.reset(); });
  }

  char *data() const {
    return static_cast<char *>(use == Use::Arena ? memory->arena()
                                                 : memory->buffer(0));
  }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(data()); }

private:
  Use use;
  std::optional<cuda::StepMemory> memory;
};

/// Copies by one of the functions of lib/Cuda, behind all work on the device.
template <auto copy>
void copyByGpu(uintptr_t to, uintptr_t from, int64_t bytes) {
  nb::gil_scoped_release released;
  onGpu([&] {
    return cuda::waitForAll() &&
           copy(reinterpret_cast<void *>(to),
                reinterpret_cast<const void *>(from), bytes) &&
           cuda::wait();
  });
}

/// An array of another framework as its DLPack capsule describes it: device,
/// address, shape, strides in elements, and the code and bits of its elements.
inline nb::tuple describeArray(const nb::ndarray<nb::ro> &array) {
  std::vector<int64_t> shape, strides;
  for (size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(array.shape(i));
    strides.push_back(array.stride(i));
  }
  return nb::make_tuple(array.device_type(), array.device_id(),
                        reinterpret_cast<uintptr_t>(array.data()), shape,
                        strides, int(array.dtype().code),
                        int(array.dtype().bits));
}

/// The DLPack capsule of an array in memory of the GPU, which \p owner keeps.
inline nb::ndarray<> gpuArray(uintptr_t address,
                              const std::vector<size_t> &shape, int code,
                              int bits, nb::handle owner) {
  nb::dlpack::dtype type;
  type.code = static_cast<uint8_t>(code);
  type.bits = static_cast<uint8_t>(bits);
  type.lanes = 1;
  return nb::ndarray<>(reinterpret_cast<void *>(address), shape.size(),
                       shape.data(), owner, nullptr, type,
                       nb::device::cuda::value, 0);
}

} // namespace ckpt::engine

#endif // CKPT_ENGINE_GPU_H
