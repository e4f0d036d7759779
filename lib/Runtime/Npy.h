//===- Npy.h - Headers of .npy members --------------------------*- C++ -*-===//
//
// The text header in front of the elements of one array. Npz.cpp deals with the
// archive around it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_RUNTIME_NPY_H
#define CKPT_LIB_RUNTIME_NPY_H

#include "ckpt/Runtime/Npz.h"

namespace ckpt {

struct NpyHeader {
  NpyType type;
  llvm::SmallVector<int64_t> shape;
  /// Offset of the first element.
  size_t dataOffset = 0;
  /// Size of the elements: exactly the bytes of the member behind the header.
  size_t dataBytes = 0;
};

/// Reads the header in front of \p member. Errors name the fault, not its
/// place.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::ArrayRef<char> member);

/// The bytes in front of the elements, padded so that these start aligned.
std::string formatNpyHeader(const NpyType &type, llvm::ArrayRef<int64_t> shape);

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_NPY_H
