//===- MatmulLibrary.h - cuBLASLt, opened at run time -----------*- C++ -*-===//
//
// As with the driver (Driver.h), our own declarations of the few functions in
// use: the library is not needed to build, link or start a program.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CUDA_MATMULLIBRARY_H
#define CKPT_LIB_CUDA_MATMULLIBRARY_H

#include "Driver.h"
#include "ckpt/Cuda/Matmul.h"

namespace ckpt::cuda {

/// The library's types, as its ABI passes them.
using LibraryStatus = int;
using LibraryHandle = struct LibraryHandleTag *;
using MatmulProduct = struct MatmulProductTag *;
using MatmulMatrix = struct MatmulMatrixTag *;
using MatmulPreference = struct MatmulPreferenceTag *;
struct MatmulAlgorithm {
  uint64_t data[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct MatmulProposal {
  MatmulAlgorithm algorithm;
  size_t workspaceBytes;
  LibraryStatus status;
  float waves;
  int reserved[4];
};

/// cublasStatus_t.
constexpr LibraryStatus librarySuccess = 0, libraryNotSupported = 15;
/// cublasComputeType_t: products and sums in f32, never rounded to TF32.
constexpr int computeFloat32 = 68;
/// cublasOperation_t.
constexpr int32_t asItIs = 0, transposed = 1;
/// cublasLtMatmulDescAttributes_t.
constexpr int transposeA = 3, transposeB = 4;
/// cublasLtMatrixLayoutAttribute_t.
constexpr int batchCount = 5, batchStrideElements = 6;
/// cublasLtMatmulPreferenceAttributes_t.
constexpr int mostWorkspaceBytes = 1, reductionSchemes = 3;
constexpr int alignmentsOfOperands[] = {5, 6, 7, 8};

struct MatmulLibrary {
#define CKPT_LIBRARY_FUNCTION(name, symbol, parameters)                        \
  LibraryStatus(*name) parameters;
#include "MatmulLibraryFunctions.def"
  LibraryHandle handle;
  /// Null in versions that have no words for a status.
  const char *(*statusName)(LibraryStatus);
};

/// How the library is to compute a shape.
struct LibraryMatmul {
  /// Kept proposals; the first is the library's favourite.
  static constexpr int most = 8;

  MatmulProduct product = nullptr;
  MatmulMatrix left = nullptr, right = nullptr, out = nullptr;
  MatmulAlgorithm algorithms[most];
  int count = 0;
};

/// Opens the library and a handle of it. Null if this machine has none; a
/// failure too if it has one that fails.
const MatmulLibrary *openMatmulLibrary();
/// The names that `openMatmulLibrary` looks for.
extern const char matmulLibraryNames[];

/// Asks how to compute \p shape. Only algorithms count that need no memory of
/// their own, so that planned bytes are all bytes, and that make each sum in
/// one part, so that equal operands give equal bits. None is no failure.
bool findAlgorithms(const MatmulLibrary &library, const MatmulShape &shape,
                    const char *kernel, LibraryMatmul &matmul);

/// Asks for \p shape to be computed in the stream; \p arguments are the
/// kernel's.
bool runMatmul(const MatmulLibrary &library, const MatmulShape &shape,
               const LibraryMatmul &matmul, int algorithm, void **arguments,
               const char *kernel);

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_MATMULLIBRARY_H
