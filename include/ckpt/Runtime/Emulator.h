//===- Emulator.h - Runs device code without a device -----------*- C++ -*-===//
//
// Stands where the driver of a GPU stands: the functions that upstream's
// lowering of launches calls, backed by the CPU. A module is loaded as the LLVM
// IR that NVPTX's code generator would get, so what runs is the device code
// itself; only registers of the device and barriers are replaced. Threads of a
// block run one after the other, from barrier to barrier, in an order that can
// be chosen to be as unhelpful as possible.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_EMULATOR_H
#define CKPT_RUNTIME_EMULATOR_H

#include "ckpt/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace ckpt {

/// The order of blocks, and of the threads of a block between two barriers.
enum class ThreadOrder {
  Forward,
  Reverse,
  /// Another permutation, from a fixed seed, every time.
  Shuffled
};

/// Of the launches that follow, in this process.
void setThreadOrder(ThreadOrder order);

/// The driver's functions by name: `mgpuModuleLoad` and so on.
llvm::StringMap<void *> emulatorSymbols();

/// What went wrong since the last call while modules were loaded.
llvm::Error takeEmulatorError();

} // namespace ckpt

#endif // CKPT_RUNTIME_EMULATOR_H
