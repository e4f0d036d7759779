//===- Driver.h - The CUDA driver, opened at run time -----------*- C++ -*-===//
//
// Our own declarations of the few functions in use: nothing needs CUDA to be
// built, and on a machine without a driver programs start and name the missing
// library.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CUDA_DRIVER_H
#define CKPT_LIB_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>

namespace ckpt::cuda {

/// The driver's types, as its ABI passes them.
using Result = int;
using DeviceNumber = int;
using DeviceAddress = uint64_t;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Graph = struct GraphTag *;
using ReadyGraph = struct ReadyGraphTag *;
/// CUtensorMap and its parts.
struct alignas(128) EncodedTensorMap {
  unsigned char bytes[128];
};
using TensorElement = int;
using TensorInterleave = int;
using TensorSwizzle = int;
using TensorPromotion = int;
using TensorFill = int;

/// CUresult.
constexpr Result success = 0, outOfMemory = 2;
/// CUdevice_attribute.
constexpr int computeCapabilityMajor = 75, computeCapabilityMinor = 76;
/// CUfunction_attribute.
constexpr int largestDynamicSharedBytes = 8;
/// CUjit_option.
constexpr int errorLog = 5, errorLogBytes = 6, optimizationLevel = 7;
/// CUstreamCaptureMode and CUstream_flags.
constexpr int captureThisThread = 1;
constexpr unsigned streamNonBlocking = 1;
/// CUevent_record_flags: also takes place in a graph.
constexpr unsigned recordInGraph = 1;

/// CUtensorMapDataType: elements of 16 bits.
constexpr TensorElement elementOf16Bits = 1;
/// CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion and
/// CUtensorMapFloatOOBfill: chunks of 16 bytes are swapped in lines of 128
/// bytes, which the cache fetches whole; elements outside are zero.
constexpr TensorInterleave notInterleaved = 0;
constexpr TensorSwizzle swizzleOf128Bytes = 3;
constexpr TensorPromotion fetchOf128Bytes = 2;
constexpr TensorFill fillWithZeros = 0;

/// Version of CUDA, as the driver counts: 1000 * major + 10 * minor.
constexpr int oldestVersion = 12000;

struct Driver {
#define CKPT_DRIVER_FUNCTION(name, symbol, parameters) Result(*name) parameters;
#include "DriverFunctions.def"
};

/// Opens the driver. Null, and a failure, if there is none or it is too old.
const Driver *openDriver();

/// Makes a failure of \p result, "cannot <what>: <the driver's words>", unless
/// it is `success`; returns whether it is.
bool check(Result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_DRIVER_H
