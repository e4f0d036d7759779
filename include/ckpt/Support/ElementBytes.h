//===- ElementBytes.h - Bytes of one number in memory -----------*- C++ -*-===//

#ifndef CKPT_SUPPORT_ELEMENTBYTES_H
#define CKPT_SUPPORT_ELEMENTBYTES_H

#include "ckpt/Support/LLVM.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ckpt {

/// Bytes that an element of \p type takes, a power of two: 1 for i1 and i4, 4 for
/// i24.
inline int64_t elementBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (auto pair = dyn_cast<mlir::ComplexType>(type))
    return 2 * elementBytes(pair.getElementType());
  return llvm::PowerOf2Ceil(
      llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
}

} // namespace ckpt

#endif // CKPT_SUPPORT_ELEMENTBYTES_H
