//===- FakeCublasLt.cpp - A matmul library without a device ---------------===//
//
// Stands in for libcublasLt.so.13 in tests, on the fake driver (FakeCuda): what
// it is asked for happens when the stream runs, and can be captured. It has
// three algorithms: the first adds the products of a sum from the last to the
// first, so its bits are others than ours; the second and third add them in our
// order, the third in half of the time; a fourth, which is only proposed if
// asked for, takes denormal sums for zero. It takes no call that the real
// library would refuse, nor one that asks for more than the runtime may.
//
// CKPT_FAKE_CUBLASLT: fail=FUNCTION, time=NANOSECONDS of the second algorithm,
// proposals=N.
//
//===----------------------------------------------------------------------===//

#include "Cuda/MatmulLibrary.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <string>
#include <vector>

using namespace ckpt::cuda;
using Clock = std::chrono::steady_clock;

#define CKPT_FAKE(result, function)                                            \
  extern "C" __attribute__((visibility("default"))) result function
#define CKPT_MAY_FAIL                                                          \
  if (faults().failing == __func__)                                            \
  return internalError

static constexpr LibraryStatus invalidValue = 7, internalError = 14;

namespace ckpt::cuda {
struct MatmulProductTag {
  std::map<int, int32_t> operations;
};
struct MatmulMatrixTag {
  int elementType;
  int64_t rows, columns, leadingDimension;
  int32_t batches = 1;
  int64_t batchStride = 0;
};
struct MatmulPreferenceTag {
  std::map<int, uint64_t> values;
};
struct LibraryHandleTag {};
} // namespace ckpt::cuda

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

namespace {
struct Faults {
  std::string failing;
  int64_t nanoseconds = 2;
  int proposals = 3;
};
} // namespace

static const Faults &faults() {
  static const Faults chosen = [] {
    Faults faults;
    const char *text = std::getenv("CKPT_FAKE_CUBLASLT");
    std::string rest = text ? text : "";
    while (!rest.empty()) {
      std::string first = rest.substr(0, rest.find(','));
      rest = rest.substr(std::min(rest.size(), first.size() + 1));
      std::string key = first.substr(0, first.find('='));
      std::string value = first.substr(std::min(first.size(), key.size() + 1));
      if (key == "fail") {
        faults.failing = value;
      } else if (key == "time") {
        faults.nanoseconds = std::stoll(value);
      } else if (key == "proposals") {
        faults.proposals = std::stoi(value);
      } else {
        std::fprintf(stderr, "CKPT_FAKE_CUBLASLT: no fault '%s'\n",
                     first.c_str());
        std::abort();
      }
    }
    return faults;
  }();
  return chosen;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static int64_t bytesOf(int64_t elementType) {
  return elementType == float32 ? 4 : 2;
}

static float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static float readHalf(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  float fraction = bits & 0x3ff;
  float magnitude = exponent ? std::ldexp(fraction + 1024, exponent - 25)
                             : std::ldexp(fraction, -24);
  return bits >> 15 ? -magnitude : magnitude;
}

static float read(const char *matrix, int64_t index, int64_t elementType) {
  const char *from = matrix + index * bytesOf(elementType);
  if (elementType == float32) {
    float value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return elementType == bfloat16 ? bitsToFloat(uint32_t(bits) << 16)
                                 : readHalf(bits);
}

/// To the nearest, ties to even; no test has infinities.
static uint16_t narrow(float value, int64_t elementType) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint32_t sign = bits >> 31, magnitude = bits & 0x7fffffff;
  // Below the normal numbers of f16 all steps are 2^-24.
  if (elementType == float16 && magnitude < (127 - 14) << 23)
    return sign << 15 | static_cast<uint16_t>(
                            std::nearbyint(std::ldexp(std::fabs(value), 24)));
  int dropped = elementType == bfloat16 ? 16 : 13;
  magnitude += (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
  magnitude >>= dropped;
  if (elementType == float16)
    magnitude -= (127 - 15) << 10;
  return sign << 15 | magnitude;
}

static void write(char *matrix, int64_t index, int64_t elementType,
                  float value) {
  char *to = matrix + index * bytesOf(elementType);
  if (elementType == float32) {
    std::memcpy(to, &value, sizeof(value));
    return;
  }
  uint16_t bits = narrow(value, elementType);
  std::memcpy(to, &bits, sizeof(bits));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// What one call asks for; alive as long as a graph may replay it.
struct Call {
  bool transposeA, transposeB;
  MatmulMatrixTag a, b, d;
  const char *aData, *bData;
  char *dData;
  uint64_t algorithm;
};
} // namespace

/// The fake driver, which the program has opened.
template <typename FunctionType>
static FunctionType driverFunction(const char *name) {
  static void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void *address = dlsym(driver, name);
  FunctionType function;
  std::memcpy(&function, &address, sizeof(function));
  return function;
}

static constexpr float smallestNormal = 0x1p-126f;

static void multiply(const Call &call, int64_t batch) {
  int64_t steps = call.transposeA ? call.a.rows : call.a.columns;
  for (int64_t row = 0; row < call.d.rows; ++row)
    for (int64_t column = 0; column < call.d.columns; ++column) {
      float sum = 0;
      for (int64_t at = 0; at < steps; ++at) {
        int64_t step = call.algorithm == 0 ? steps - 1 - at : at;
        int64_t a = call.transposeA ? row * call.a.leadingDimension + step
                                    : step * call.a.leadingDimension + row;
        int64_t b = call.transposeB ? step * call.b.leadingDimension + column
                                    : column * call.b.leadingDimension + step;
        // The order of the factors makes no difference to the bits.
        sum = std::fma(read(call.aData, batch * call.a.batchStride + a,
                            call.a.elementType),
                       read(call.bData, batch * call.b.batchStride + b,
                            call.b.elementType),
                       sum);
        if (call.algorithm == 3 && std::fabs(sum) < smallestNormal)
          sum = 0;
      }
      write(call.dData,
            batch * call.d.batchStride + column * call.d.leadingDimension + row,
            call.d.elementType, sum);
    }
}

/// Takes as long as it says, whatever it takes.
static void runCall(void *data) {
  const Call &call = *static_cast<Call *>(data);
  Clock::time_point start = Clock::now();
  for (int64_t batch = 0; batch < call.d.batches; ++batch)
    multiply(call, batch);
  int64_t pretended = faults().nanoseconds / (call.algorithm >= 2 ? 2 : 1);
  std::chrono::nanoseconds real = Clock::now() - start;
  driverFunction<void (*)(int64_t)>("ckptFakePassTime")(pretended -
                                                        real.count());
}

/// Whether all elements lie in memory of the device, at an aligned address.
static bool isReachable(const void *data, const MatmulMatrixTag &matrix) {
  int64_t last = (matrix.batches - 1) * matrix.batchStride +
                 (matrix.columns - 1) * matrix.leadingDimension + matrix.rows;
  auto address = reinterpret_cast<uintptr_t>(data);
  return address % 16 == 0 &&
         driverFunction<bool (*)(DeviceAddress, size_t)>("ckptFakeIsAllocated")(
             address, last * bytesOf(matrix.elementType));
}

//===----------------------------------------------------------------------===//
// The library's functions
//===----------------------------------------------------------------------===//

CKPT_FAKE(const char *, cublasLtGetStatusName)(LibraryStatus status) {
  return status == invalidValue ? "CUBLAS_STATUS_INVALID_VALUE"
                                : "CUBLAS_STATUS_INTERNAL_ERROR";
}

CKPT_FAKE(LibraryStatus, cublasLtCreate)(LibraryHandle *handle) {
  CKPT_MAY_FAIL;
  *handle = new LibraryHandleTag();
  return librarySuccess;
}

CKPT_FAKE(LibraryStatus, cublasLtMatmulDescCreate)
(MatmulProduct *product, int computeType, int scaleType) {
  CKPT_MAY_FAIL;
  *product = new MatmulProductTag();
  return computeType == computeFloat32 && scaleType == float32 ? librarySuccess
                                                               : invalidValue;
}

CKPT_FAKE(LibraryStatus, cublasLtMatmulDescSetAttribute)
(MatmulProduct product, int attribute, const void *value, size_t bytes) {
  CKPT_MAY_FAIL;
  if (bytes != sizeof(int32_t) ||
      (attribute != transposeA && attribute != transposeB))
    return invalidValue;
  std::memcpy(&product->operations[attribute], value, bytes);
  return librarySuccess;
}

CKPT_FAKE(LibraryStatus, cublasLtMatrixLayoutCreate)
(MatmulMatrix *matrix, int elementType, uint64_t rows, uint64_t columns,
 int64_t leadingDimension) {
  CKPT_MAY_FAIL;
  bool isKnown = elementType == float32 || elementType == float16 ||
                 elementType == bfloat16;
  if (!isKnown || leadingDimension < static_cast<int64_t>(rows))
    return invalidValue;
  *matrix =
      new MatmulMatrixTag{elementType, static_cast<int64_t>(rows),
                          static_cast<int64_t>(columns), leadingDimension};
  return librarySuccess;
}

CKPT_FAKE(LibraryStatus, cublasLtMatrixLayoutSetAttribute)
(MatmulMatrix matrix, int attribute, const void *value, size_t bytes) {
  CKPT_MAY_FAIL;
  if (attribute == batchCount && bytes == sizeof(matrix->batches))
    std::memcpy(&matrix->batches, value, bytes);
  else if (attribute == batchStrideElements &&
           bytes == sizeof(matrix->batchStride))
    std::memcpy(&matrix->batchStride, value, bytes);
  else
    return invalidValue;
  return librarySuccess;
}

CKPT_FAKE(LibraryStatus, cublasLtMatmulPreferenceCreate)
(MatmulPreference *preference) {
  CKPT_MAY_FAIL;
  *preference = new MatmulPreferenceTag();
  return librarySuccess;
}

CKPT_FAKE(LibraryStatus, cublasLtMatmulPreferenceSetAttribute)
(MatmulPreference preference, int attribute, const void *value, size_t bytes) {
  CKPT_MAY_FAIL;
  if (bytes !=
      (attribute == mostWorkspaceBytes ? sizeof(uint64_t) : sizeof(uint32_t)))
    return invalidValue;
  std::memcpy(&preference->values[attribute], value, bytes);
  return librarySuccess;
}

/// No memory of its own, no sums in parts, alignments that hold.
static bool isModest(const MatmulPreferenceTag &preference) {
  auto is = [&](int attribute, uint64_t wanted) {
    auto found = preference.values.find(attribute);
    return found != preference.values.end() && found->second == wanted;
  };
  bool isAligned = true;
  for (int attribute : alignmentsOfOperands)
    isAligned = isAligned && is(attribute, 16);
  return isAligned && is(mostWorkspaceBytes, 0) && is(reductionSchemes, 0);
}

/// Whether the sizes of a product meet.
static bool fits(const MatmulProductTag &product, const MatmulMatrixTag &a,
                 const MatmulMatrixTag &b, const MatmulMatrixTag &d) {
  bool turnsA = product.operations.at(transposeA) == transposed;
  bool turnsB = product.operations.at(transposeB) == transposed;
  return (turnsA ? a.columns : a.rows) == d.rows &&
         (turnsB ? b.rows : b.columns) == d.columns &&
         (turnsA ? a.rows : a.columns) == (turnsB ? b.columns : b.rows) &&
         a.batches == b.batches && a.batches == d.batches &&
         a.elementType == b.elementType &&
         (d.elementType == a.elementType || d.elementType == float32);
}

CKPT_FAKE(LibraryStatus, cublasLtMatmulAlgoGetHeuristic)
(LibraryHandle /*handle*/, MatmulProduct product, MatmulMatrix a,
 MatmulMatrix b, MatmulMatrix /*c*/, MatmulMatrix d,
 MatmulPreference preference, int most, MatmulProposal *proposals, int *count) {
  CKPT_MAY_FAIL;
  if (!isModest(*preference) || !fits(*product, *a, *b, *d))
    return invalidValue;
  if (faults().proposals == 0)
    return libraryNotSupported;
  *count = std::min(most, faults().proposals);
  for (int i = 0; i < *count; ++i) {
    proposals[i] = {};
    proposals[i].algorithm.data[0] = i;
  }
  return librarySuccess;
}

CKPT_FAKE(LibraryStatus, cublasLtMatmul)
(LibraryHandle /*handle*/, MatmulProduct product, const void *alpha,
 const void *a, MatmulMatrix aMatrix, const void *b, MatmulMatrix bMatrix,
 const void *beta, const void *c, MatmulMatrix cMatrix, void *d,
 MatmulMatrix dMatrix, const MatmulAlgorithm *algorithm, void *workspace,
 size_t workspaceBytes, Stream stream) {
  CKPT_MAY_FAIL;
  if (*static_cast<const float *>(alpha) != 1 ||
      *static_cast<const float *>(beta) != 0 || c != d || cMatrix != dMatrix ||
      workspace || workspaceBytes ||
      !fits(*product, *aMatrix, *bMatrix, *dMatrix) ||
      !isReachable(a, *aMatrix) || !isReachable(b, *bMatrix) ||
      !isReachable(d, *dMatrix))
    return invalidValue;
  auto *call = new Call{product->operations.at(transposeA) == transposed,
                        product->operations.at(transposeB) == transposed,
                        *aMatrix,
                        *bMatrix,
                        *dMatrix,
                        static_cast<const char *>(a),
                        static_cast<const char *>(b),
                        static_cast<char *>(d),
                        algorithm->data[0]};
  auto launch = driverFunction<Result (*)(Stream, void (*)(void *), void *)>(
      "cuLaunchHostFunc");
  return launch(stream, &runCall, call) == success ? librarySuccess
                                                   : internalError;
}
