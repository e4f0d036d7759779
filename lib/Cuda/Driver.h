//===- Driver.h - The CUDA driver, opened at run time -----------*- C++ -*-===//
//
// Our own declarations of the few functions that are called: so nothing needs
// CUDA to be built, and programs start, and say what they lack, where there is
// no driver.
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

/// Of CUDA, as the driver counts: 1000 * major + 10 * minor.
constexpr int oldestVersion = 12000;

struct Driver {
#define CKPT_DRIVER_FUNCTION(name, symbol, parameters) Result(*name) parameters;
#include "DriverFunctions.def"
};

/// Opens the driver. Null, and a failure, if there is none or it is too old.
const Driver *openDriver();

/// Makes a failure of \p result, "cannot <what>: <the driver's words>", unless
/// it is `success`; whether it is.
bool check(Result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_DRIVER_H
