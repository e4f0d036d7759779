//===- EmulatedBlock.h - The threads of one block ---------------*- C++ -*-===//
//
// Each thread of a block that meets at barriers is a fibre; threads that never
// meet are plain calls.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_RUNTIME_EMULATEDBLOCK_H
#define CKPT_LIB_RUNTIME_EMULATEDBLOCK_H

#include "ckpt/Runtime/Emulator.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ckpt {

/// Blocks of a grid, threads of a block.
using Extents = std::array<int64_t, 3>;

/// Memory that the threads of a block share.
struct SharedMemory {
  char *data;
  int64_t bytes;
};

/// An argument of a kernel, as launches hand it over.
struct KernelParameter {
  int64_t bytes;
  bool isPointer;
};

/// A kernel on this machine.
struct EmulatedKernel {
  std::string name;
  std::vector<KernelParameter> parameters;
  /// Runs one thread; takes the addresses of the kernel's arguments.
  void (*run)(void **arguments) = nullptr;
  bool hasBarrier = false;
  std::vector<SharedMemory> shared;
};

/// Runs all threads of all blocks. A barrier that some threads of a block never
/// reach ends the process with a message.
void runGrid(const EmulatedKernel &kernel, Extents blocks, Extents threads,
             void **arguments);

/// What device code calls.
extern "C" {
int32_t ckptEmulatorThread(int32_t dimension);
int32_t ckptEmulatorBlock(int32_t dimension);
int32_t ckptEmulatorThreads(int32_t dimension);
int32_t ckptEmulatorBlocks(int32_t dimension);
void ckptEmulatorBarrier();
}

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_EMULATEDBLOCK_H
