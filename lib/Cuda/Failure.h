//===- Failure.h - The first thing that went wrong --------------*- C++ -*-===//
//
// Every file of this room reports by it; `failure` of Device.h hands the
// message to the caller of the room.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CUDA_FAILURE_H
#define CKPT_LIB_CUDA_FAILURE_H

#include <cstddef>

namespace ckpt::cuda {

constexpr size_t longestFailure = 2048;

/// Keeps the message if it is the first one; later failures are often its
/// consequences. Returns false, for callers to return.
bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Whether something went wrong.
bool hasFailed();

} // namespace ckpt::cuda

#endif // CKPT_LIB_CUDA_FAILURE_H
