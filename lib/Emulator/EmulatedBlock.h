//===- EmulatedBlock.h - The threads of one block ---------------*- C++ -*-===//
//
// Each thread of a block that meets at barriers is a fibre; threads that never
// meet are plain calls.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EMULATOR_EMULATEDBLOCK_H
#define CKPT_LIB_EMULATOR_EMULATEDBLOCK_H

#include "ckpt/Emulator/Emulator.h"
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
  /// Whether threads ever wait for each other.
  bool hasBarrier = false;
  std::vector<SharedMemory> shared;
  /// First byte of the memory that threads of a block share because the launch
  /// asks for it; null if the kernel uses none.
  char *launchMemory = nullptr;
};

/// The most bytes that a launch may ask for.
inline constexpr int64_t mostLaunchBytes = 227 * 1024;

/// How a kernel is launched.
struct EmulatedLaunch {
  Extents blocks, threads;
  int64_t sharedBytes;
};

/// Runs all threads of all blocks. A barrier that some threads of a block never
/// reach ends the process with a message.
void runGrid(const EmulatedKernel &kernel, const EmulatedLaunch &launch,
             void **arguments);

/// Functions that device code calls.
extern "C" {
int32_t ckptEmulatorThread(int32_t dimension);
int32_t ckptEmulatorBlock(int32_t dimension);
int32_t ckptEmulatorThreads(int32_t dimension);
int32_t ckptEmulatorBlocks(int32_t dimension);
void ckptEmulatorBarrier();
/// Instructions of a warp (EmulatedWarp.h): four squares of 8 x 8 elements, and
/// sums of 16 x 8 from four registers of the left operand and two of the right.
void ckptEmulatorLoadMatrices(uint32_t *registers, const void *row,
                              int32_t transposed);
void ckptEmulatorMultiply(float *sums, const uint32_t *fragments,
                          int32_t isBfloat);
/// Copies to shared memory: 16 bytes, of which the ones behind the first \p
/// bytes become zeros; groups of them; waits for all but the latest groups.
void ckptEmulatorCopy(char *target, const char *source, int32_t bytes);
void ckptEmulatorCommit();
void ckptEmulatorWait(int32_t pending);
/// Instructions of a warpgroup (EmulatedWarpgroup.h), stores to shared memory
/// that they may read, and registers that are used when they are done.
void ckptEmulatorStored(const char *address, int64_t bytes);
void ckptEmulatorFenceProxies();
void ckptEmulatorWarpgroupFence();
void ckptEmulatorWarpgroupMultiply(float *sums, uint64_t left, uint64_t right,
                                   int32_t columns, int32_t isBfloat,
                                   int32_t leftTransposed,
                                   int32_t rightTransposed);
void ckptEmulatorWarpgroupCommit();
void ckptEmulatorWarpgroupWait(int64_t pending);
void ckptEmulatorSettle(float *registers, int32_t count);
/// Copies of boxes (EmulatedTmaCopies.h): barriers that count arrivals, and a
/// wait for the phase of a parity to end.
void ckptEmulatorMakeBarrier(const char *barrier, int32_t threads);
void ckptEmulatorExpect(const char *barrier, int32_t bytes);
void ckptEmulatorWaitFor(const char *barrier, int32_t parity);
void ckptEmulatorCopyBox(char *target, const char *barrier, const void *map,
                         int32_t rank, const int32_t *corner);
}

} // namespace ckpt

#endif // CKPT_LIB_EMULATOR_EMULATEDBLOCK_H
