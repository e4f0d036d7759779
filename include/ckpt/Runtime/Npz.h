//===- Npz.h - NumPy's archives of arrays -----------------------*- C++ -*-===//
//
// How tensors come in and go out: `.npz` files, which are zip archives of
// `.npy` members, as `numpy.savez` and `numpy.savez_compressed` write them. A
// file is never trusted: whatever its bytes are, reading gives arrays or an
// error.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_NPZ_H
#define CKPT_RUNTIME_NPZ_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt {

/// Element type of a `.npy` file: NumPy's kind letter and the size in bytes.
/// `b`1 bool, `i`/`u` integers, `f` floats, and `V`2 for bfloat16, which NumPy
/// does not know and `ml_dtypes` stores so.
struct NpyType {
  char kind = 'f';
  int bytes = 4;

  bool operator==(const NpyType &other) const {
    return kind == other.kind && bytes == other.bytes;
  }
  /// As people write it: "float32", "bool", "bfloat16".
  std::string name() const;
};

/// A member of an archive, its elements in C order. Archives that are written
/// only borrow their data.
struct NpyView {
  std::string name;
  NpyType type;
  llvm::SmallVector<int64_t> shape;
  llvm::ArrayRef<char> data;
};

/// A member that was read; a scalar has an empty shape.
struct NpyArray {
  /// Without the `.npy` that the archive appends.
  std::string name;
  NpyType type;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> data;
};

/// Reads all members of \p path, in the archive's order. Fails, with a message
/// that names the file and the member, if the file cannot be read or is
/// truncated, damaged, in Fortran order or big-endian, has an element type that
/// `NpyType` cannot express, or holds a name twice.
llvm::Expected<std::vector<NpyArray>> readNpz(llvm::StringRef path);

/// The same from memory; \p path only serves messages.
llvm::Expected<std::vector<NpyArray>> parseNpz(llvm::ArrayRef<char> bytes,
                                               llvm::StringRef path);

/// Writes an archive that `numpy.load` reads; not compressed. All of it, or an
/// error that names the file and nothing (OutputFile.h).
llvm::Error writeNpz(llvm::StringRef path, llvm::ArrayRef<NpyView> arrays);

} // namespace ckpt

#endif // CKPT_RUNTIME_NPZ_H
