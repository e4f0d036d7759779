//===- MatmulLibrary.cpp - cuBLASLt, opened at run time -------------------===//

#include "MatmulLibrary.h"
#include "Failure.h"
#include "OpenDevice.h"
#include <cstring>
#include <dlfcn.h>

using namespace ckpt::cuda;

/// Files of the versions whose functions we know, the newest first.
static const char *const fileNames[] = {"libcublasLt.so.13",
                                        "libcublasLt.so.12"};
const char ckpt::cuda::matmulLibraryNames[] =
    "'libcublasLt.so.13' or 'libcublasLt.so.12'";

/// As every buffer is aligned, and every operand in it.
static constexpr uint32_t alignmentBytes = 16;

template <typename FunctionType>
static bool find(void *file, const char *symbol, FunctionType &function) {
  void *address = dlsym(file, symbol);
  std::memcpy(&function, &address, sizeof(function));
  return address;
}

static const MatmulLibrary *library = nullptr;

/// Makes a failure of \p status unless it is success; whether it is. No
/// kernel is to blame where the library is opened.
static bool succeeded(LibraryStatus status, const char *symbol,
                      const char *kernel) {
  if (status == librarySuccess)
    return true;
  const char *name =
      library && library->statusName ? library->statusName(status) : "status";
  if (!kernel)
    return fail("cannot open cuBLASLt: '%s' says %s (%d)", symbol, name,
                status);
  return fail("cannot run the kernel '%s' by cuBLASLt: '%s' says %s (%d)",
              kernel, symbol, name, status);
}

const MatmulLibrary *ckpt::cuda::openMatmulLibrary() {
  static MatmulLibrary opened;
  if (library)
    return library;
  void *file = nullptr;
  for (const char *name : fileNames)
    if (!file)
      file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!file)
    return nullptr;
#define CKPT_LIBRARY_FUNCTION(name, symbol, parameters)                        \
  if (!find(file, #symbol, opened.name)) {                                     \
    fail("expected cuBLASLt in %s, but it lacks '%s'", matmulLibraryNames,     \
         #symbol);                                                             \
    return nullptr;                                                            \
  }
#include "MatmulLibraryFunctions.def"
  find(file, "cublasLtGetStatusName", opened.statusName);
  library = &opened;
  if (!succeeded(opened.create(&opened.handle), "cublasLtCreate", nullptr))
    library = nullptr;
  return library;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//
//
// The library counts along columns, so it computes out^T = right^T * left^T:
// memory that holds a matrix row by row holds its transpose column by column.

namespace {
/// Tells the library of one shape; false and a failure where it refuses.
class Describer {
public:
  Describer(const MatmulLibrary &library, const char *kernel)
      : library(library), kernel(kernel) {}

  bool describe(const MatmulShape &shape, LibraryMatmul &matmul);
  bool prefer(MatmulPreference &preference);
  bool propose(LibraryMatmul &matmul, MatmulPreference preference);

private:
  bool matrix(const MatmulOperand &operand, int64_t rows, int64_t columns,
              int64_t batches, MatmulMatrix &matrix);
  bool transpose(MatmulProduct product, int attribute,
                 const MatmulOperand &operand);

  const MatmulLibrary &library;
  const char *kernel;
};
} // namespace

bool Describer::matrix(const MatmulOperand &operand, int64_t rows,
                       int64_t columns, int64_t batches, MatmulMatrix &matrix) {
  uint64_t inColumn = operand.isTransposed ? rows : columns;
  uint64_t inRow = operand.isTransposed ? columns : rows;
  auto count = static_cast<int32_t>(batches);
  return succeeded(library.createMatrix(
                       &matrix, static_cast<int>(operand.elementType), inColumn,
                       inRow, operand.leadingDimension),
                   "cublasLtMatrixLayoutCreate", kernel) &&
         succeeded(library.setMatrix(matrix, batchCount, &count, sizeof(count)),
                   "cublasLtMatrixLayoutSetAttribute", kernel) &&
         succeeded(library.setMatrix(matrix, batchStrideElements,
                                     &operand.batchStride,
                                     sizeof(operand.batchStride)),
                   "cublasLtMatrixLayoutSetAttribute", kernel);
}

bool Describer::transpose(MatmulProduct product, int attribute,
                          const MatmulOperand &operand) {
  int32_t operation = operand.isTransposed ? transposed : asItIs;
  return succeeded(
      library.setProduct(product, attribute, &operation, sizeof(operation)),
      "cublasLtMatmulDescSetAttribute", kernel);
}

bool Describer::describe(const MatmulShape &shape, LibraryMatmul &matmul) {
  return succeeded(library.createProduct(&matmul.product, computeFloat32,
                                         static_cast<int>(float32)),
                   "cublasLtMatmulDescCreate", kernel) &&
         transpose(matmul.product, transposeA, shape.right) &&
         transpose(matmul.product, transposeB, shape.left) &&
         matrix(shape.left, shape.rows, shape.steps, shape.batches,
                matmul.left) &&
         matrix(shape.right, shape.steps, shape.columns, shape.batches,
                matmul.right) &&
         matrix(shape.out, shape.rows, shape.columns, shape.batches,
                matmul.out);
}

bool Describer::prefer(MatmulPreference &preference) {
  auto set = [&](int attribute, const void *value, size_t bytes) {
    return succeeded(library.setPreference(preference, attribute, value, bytes),
                     "cublasLtMatmulPreferenceSetAttribute", kernel);
  };
  uint64_t noBytes = 0;
  uint32_t noSchemes = 0;
  if (!succeeded(library.createPreference(&preference),
                 "cublasLtMatmulPreferenceCreate", kernel) ||
      !set(mostWorkspaceBytes, &noBytes, sizeof(noBytes)) ||
      !set(reductionSchemes, &noSchemes, sizeof(noSchemes)))
    return false;
  for (int attribute : alignmentsOfOperands)
    if (!set(attribute, &alignmentBytes, sizeof(alignmentBytes)))
      return false;
  return true;
}

bool Describer::propose(LibraryMatmul &matmul, MatmulPreference preference) {
  MatmulProposal proposals[LibraryMatmul::most];
  int count = 0;
  LibraryStatus status = library.findAlgorithms(
      library.handle, matmul.product, matmul.right, matmul.left, matmul.out,
      matmul.out, preference, LibraryMatmul::most, proposals, &count);
  if (status == libraryNotSupported)
    return true;
  if (!succeeded(status, "cublasLtMatmulAlgoGetHeuristic", kernel))
    return false;
  for (int i = 0; i < count; ++i)
    if (proposals[i].status == librarySuccess &&
        proposals[i].workspaceBytes == 0)
      matmul.algorithms[matmul.count++] = proposals[i].algorithm;
  return true;
}

bool ckpt::cuda::findAlgorithms(const MatmulLibrary &library,
                                const MatmulShape &shape, const char *kernel,
                                LibraryMatmul &matmul) {
  Describer describer(library, kernel);
  static MatmulPreference preference = nullptr;
  return (preference || describer.prefer(preference)) &&
         describer.describe(shape, matmul) &&
         describer.propose(matmul, preference);
}

bool ckpt::cuda::runMatmul(const MatmulLibrary &library,
                           const MatmulShape &shape,
                           const LibraryMatmul &matmul, int algorithm,
                           void **arguments, const char *kernel) {
  const float one = 1, zero = 0;
  for (int64_t group = 0; group < shape.groups; ++group) {
    auto start = [&](const MatmulOperand &operand) {
      int64_t elementBytes = operand.elementType == float32 ? 4 : 2;
      return *static_cast<char **>(arguments[operand.argument]) +
             operand.offset + group * operand.groupStride * elementBytes;
    };
    void *out = start(shape.out);
    if (!succeeded(library.multiply(
                       library.handle, matmul.product, &one, start(shape.right),
                       matmul.right, start(shape.left), matmul.left, &zero, out,
                       matmul.out, out, matmul.out,
                       &matmul.algorithms[algorithm], /*workspace=*/nullptr,
                       /*workspaceBytes=*/0, device.stream),
                   "cublasLtMatmul", kernel))
      return false;
  }
  return true;
}
