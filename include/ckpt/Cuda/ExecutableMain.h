//===- ExecutableMain.h - The description of an emitted program -*- C++ -*-===//
//
// The content of a program that ckpt-runner emits, besides the runtime library:
// the code of the host and this description, both made by the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CUDA_EXECUTABLEMAIN_H
#define CKPT_CUDA_EXECUTABLEMAIN_H

#include <cstdint>

namespace ckpt::cuda {

/// An argument or a result.
struct ProgramBuffer {
  /// Name of its file, without `.npy`: arg000, out000.
  const char *name;
  /// As headers of `.npy` files have type and shape: "<f4", "(8,2,)".
  const char *element, *shape;
  int64_t bytes;
};

/// `createProgramObject` makes a global of this layout.
struct Program {
  const char *name;
  /// The chip that the device code is for.
  const char *chip;
  int64_t arenaBytes;
  int64_t argumentCount, resultCount;
  /// The arguments, then the results.
  const ProgramBuffer *buffers;
  /// Takes the address of each, and of the arena.
  void (*launch)(void **addresses);
};

extern "C" const Program ckptProgram;

} // namespace ckpt::cuda

#endif // CKPT_CUDA_EXECUTABLEMAIN_H
