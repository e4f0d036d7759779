//===- OpenMP.h - The library that runs compiled threads --------*- C++ -*-===//
//
// Compiled code calls LLVM's libomp. A process may hold other OpenMP libraries,
// such as PyTorch's, and a Python module sees none of the names of its own: the
// step asks for names in the library itself.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_RUNTIME_OPENMP_H
#define CKPT_LIB_RUNTIME_OPENMP_H

#include "llvm/ADT/StringRef.h"

namespace ckpt {

struct OpenMP {
  /// The file of libomp, as the loader found it.
  llvm::StringRef path;
  /// `omp_set_num_threads` of that library.
  void (*setThreads)(int threads);

  static const OpenMP &get();
};

} // namespace ckpt

#endif // CKPT_LIB_RUNTIME_OPENMP_H
