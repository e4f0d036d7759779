//===- EmulatedModule.h - Device code, compiled for the host ----*- C++ -*-===//
//
// `mgpuModuleLoad` of the emulator, and of the CUDA driver of tests, makes one
// from the LLVM IR of a GPU module; launches call its kernels.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EMULATOR_EMULATEDMODULE_H
#define CKPT_LIB_EMULATOR_EMULATEDMODULE_H

#include "Emulator/EmulatedBlock.h"
#include "ckpt/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace ckpt {

class EmulatedModule {
public:
  ~EmulatedModule();

  /// Compiles \p bitcode, LLVM IR for NVPTX. An error if it uses something of
  /// the device that is not emulated.
  static llvm::Expected<std::unique_ptr<EmulatedModule>>
  load(StringRef bitcode);

  /// Null if there is none of that name.
  const EmulatedKernel *getKernel(StringRef name) const;

private:
  EmulatedModule();

  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<EmulatedKernel> kernels;
};

} // namespace ckpt

#endif // CKPT_LIB_EMULATOR_EMULATEDMODULE_H
