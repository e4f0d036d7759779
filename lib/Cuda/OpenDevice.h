//===- OpenDevice.h - The device that is open -------------------*- C++ -*-===//
//
// The one device of the process, which the files of this room share.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CUDA_OPENDEVICE_H
#define CKPT_LIB_CUDA_OPENDEVICE_H

#include "Driver.h"

namespace ckpt::cuda {

/// Set by `openDevice`; the functions that lowered code calls have no place for
/// it among their arguments.
struct OpenDevice {
  const Driver *driver = nullptr;
  Context context = nullptr;
  Stream stream = nullptr;
  /// Whether launches are waited for one by one.
  bool waitsForLaunches = false;
  /// Whether launches only choose the runner of matmuls (Matmul.cpp).
  bool onlyChooses = false;
};
extern OpenDevice device;

inline DeviceAddress toAddress(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_OPENDEVICE_H
