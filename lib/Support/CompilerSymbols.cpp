//===- CompilerSymbols.cpp - Library functions that compiled code calls ---===//

#include "ckpt/Support/CompilerSymbols.h"
#include "llvm/ADT/bit.h"

using namespace ckpt;

/// f32 to bf16, to nearest even. LLVM moves parts of bf16 vectors through f32.
/// A bf16 is returned in the low bits of the register of an f32.
static float roundToBfloat(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  if (value != value)
    bits |= 1 << 22;
  else
    bits += 0x7FFF + (bits >> 16 & 1);
  return llvm::bit_cast<float>(bits >> 16);
}

llvm::orc::SymbolMap
ckpt::compilerSymbols(llvm::orc::MangleAndInterner &interner) {
  return {{interner("__truncsfbf2"),
           {llvm::orc::ExecutorAddr::fromPtr(&roundToBfloat),
            llvm::JITSymbolFlags::Exported}}};
}
