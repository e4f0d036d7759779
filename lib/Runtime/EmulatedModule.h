//===- EmulatedModule.h - Device code, compiled for this machine -*- C++
//-*-===//

#ifndef CKPT_LIB_RUNTIME_EMULATEDMODULE_H
#define CKPT_LIB_RUNTIME_EMULATEDMODULE_H

#include "EmulatedBlock.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>

namespace ckpt {

class EmulatedModule {
public:
  /// Compiles \p bitcode, LLVM IR for NVPTX. An error if it uses something of
  /// the device that is not emulated.
  static llvm::Expected<std::unique_ptr<EmulatedModule>>
  load(StringRef bitcode);

  /// Null if there is none of that name.
  const EmulatedKernel *getKernel(StringRef name) const;

private:
  EmulatedModule() = default;

  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<EmulatedKernel> kernels;
};

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_EMULATEDMODULE_H
