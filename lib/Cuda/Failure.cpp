//===- Failure.cpp - The first thing that went wrong ----------------------===//

#include "Failure.h"
#include "ckpt/Cuda/Device.h"
#include <cstdarg>
#include <cstdio>

using namespace ckpt::cuda;

static char message[longestFailure];

bool ckpt::cuda::fail(const char *format, ...) {
  if (hasFailed())
    return false;
  va_list values;
  va_start(values, format);
  std::vsnprintf(message, sizeof(message), format, values);
  va_end(values);
  return false;
}

bool ckpt::cuda::hasFailed() { return message[0]; }

const char *ckpt::cuda::failure() { return message; }

void ckpt::cuda::forgetFailure() { message[0] = '\0'; }
