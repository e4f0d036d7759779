//===- Emulator.h - Runs device code without a device -----------*- C++ -*-===//
//
// Takes the place of a GPU's driver: the functions that upstream's lowering of
// launches calls, backed by the CPU. A module is loaded as the LLVM IR that
// NVPTX's code generator would get, so the device code itself runs; only
// registers of the device and barriers are replaced. Threads of a block run one
// after the other, from barrier to barrier, in an order that can be chosen to
// be as unhelpful as possible.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_EMULATOR_EMULATOR_H
#define CKPT_EMULATOR_EMULATOR_H

#include "ckpt/Cuda/DeviceFunctions.h"
#include "llvm/Support/Error.h"

namespace ckpt {

/// The order of blocks, and of the threads of a block between two barriers.
enum class ThreadOrder {
  Forward,
  Reverse,
  /// Another permutation, from a fixed seed, every time.
  Shuffled
};

/// Sets the order of threads in later launches of this process.
void setThreadOrder(ThreadOrder order);

/// The emulator as the host code of a step sees it. It offers no library of
/// matmuls, and kernels are timed by the clock of the host.
extern const cuda::DeviceFunctions emulatorFunctions;

/// The failure of loading modules since the last call, if any.
llvm::Error takeEmulatorError();

} // namespace ckpt

#endif // CKPT_EMULATOR_EMULATOR_H
