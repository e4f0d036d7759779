//===- Driver.cpp - The CUDA driver, opened at run time -------------------===//

#include "Driver.h"
#include "Failure.h"
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

using namespace ckpt::cuda;

/// Name and description of a result; usable before anything else is.
static Result (*errorName)(Result, const char **);
static Result (*errorString)(Result, const char **);

template <typename FunctionType>
static bool find(void *library, const char *symbol, FunctionType &function) {
  void *address = dlsym(library, symbol);
  std::memcpy(&function, &address, sizeof(function));
  return address;
}

static bool failOld(int version) {
  return fail("expected a driver for CUDA %d.%d or later, but got one for "
              "CUDA %d.%d",
              oldestVersion / 1000, oldestVersion % 1000 / 10, version / 1000,
              version % 1000 / 10);
}

static bool checkVersion(void *library) {
  Result (*getVersion)(int *) = nullptr;
  int version = 0;
  if (!find(library, "cuGetErrorName", errorName) ||
      !find(library, "cuGetErrorString", errorString) ||
      !find(library, "cuDriverGetVersion", getVersion))
    return fail("expected the CUDA driver in libcuda.so.1, but it lacks '%s'",
                "cuDriverGetVersion");
  if (!check(getVersion(&version), "ask the driver for its version"))
    return false;
  return version >= oldestVersion || failOld(version);
}

const Driver *ckpt::cuda::openDriver() {
  static Driver driver;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fail("expected a CUDA driver, but cannot open %s", dlerror());
    return nullptr;
  }
  if (!checkVersion(library))
    return nullptr;
#define CKPT_DRIVER_FUNCTION(name, symbol, parameters)                         \
  if (!find(library, #symbol, driver.name)) {                                  \
    fail("expected the CUDA driver in libcuda.so.1, but it lacks '%s'",        \
         #symbol);                                                             \
    return nullptr;                                                            \
  }
#include "DriverFunctions.def"
  return &driver;
}

bool ckpt::cuda::check(Result result, const char *format, ...) {
  if (result == success)
    return true;
  char what[longestFailure];
  va_list values;
  va_start(values, format);
  std::vsnprintf(what, sizeof(what), format, values);
  va_end(values);
  // The driver returns null for results that it does not know.
  const char *name = nullptr, *words = nullptr;
  errorName(result, &name);
  errorString(result, &words);
  return fail("cannot %s: %s (%s)", what,
              words ? words : "unknown to the driver",
              name ? name : "an error without a name");
}
