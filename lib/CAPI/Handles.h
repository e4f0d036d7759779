//===- Handles.h - From the handles of C to objects and back ----*- C++ -*-===//
//
// A table of the process gives each object a number that no other object ever
// has. A call looks its object up and shares it until the call ends, so that
// another thread may destroy the handle meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CAPI_HANDLES_H
#define CKPT_LIB_CAPI_HANDLES_H

#include "ckpt-c/Support.h"

#include <memory>
#include <string>

namespace ckpt::capi {

/// The object behind a handle.
struct Object {
  virtual ~Object() = default;
};

/// The number of \p object from now on.
uint64_t add(std::shared_ptr<Object> object);
/// The object of that number, or null.
std::shared_ptr<Object> find(uint64_t number);
void remove(uint64_t number);

/// Keeps \p message for `ckptGetErrorMessage` and returns \p status.
CkptStatus fail(CkptStatus status, std::string message);
/// The handle \p number does not name a \p what, such as "a problem".
CkptStatus failHandle(uint64_t number, const char *what);
/// The parameter \p name is null.
CkptStatus failNull(const char *name);

/// The object of a handle, or null. \p T names its kind as `T::what`.
template <typename T>
std::shared_ptr<T> get(uint64_t number) {
  return std::dynamic_pointer_cast<T>(find(number));
}

template <typename T>
CkptStatus destroy(uint64_t number) {
  if (!get<T>(number))
    return failHandle(number, T::what);
  remove(number);
  return CKPT_SUCCESS;
}

} // namespace ckpt::capi

#endif // CKPT_LIB_CAPI_HANDLES_H
