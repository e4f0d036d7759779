//===- Handles.cpp - From the handles of C to objects and back ------------===//

#include "Handles.h"

#include <mutex>
#include <unordered_map>

using namespace ckpt::capi;

namespace {
struct Table {
  std::mutex mutex;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects;
  uint64_t last = 0;
};
} // namespace

/// Lives as long as the process: a thread may call while another one exits.
static Table &table() {
  static Table *const table = new Table();
  return *table;
}

static thread_local std::string lastMessage;

uint64_t ckpt::capi::add(std::shared_ptr<Object> object) {
  std::lock_guard<std::mutex> lock(table().mutex);
  table().objects[++table().last] = std::move(object);
  return table().last;
}

std::shared_ptr<Object> ckpt::capi::find(uint64_t number) {
  std::lock_guard<std::mutex> lock(table().mutex);
  auto found = table().objects.find(number);
  return found == table().objects.end() ? nullptr : found->second;
}

void ckpt::capi::remove(uint64_t number) {
  std::shared_ptr<Object> object = find(number);
  std::lock_guard<std::mutex> lock(table().mutex);
  table().objects.erase(number);
}

CkptStatus ckpt::capi::fail(CkptStatus status, std::string message) {
  lastMessage = std::move(message);
  return status;
}

CkptStatus ckpt::capi::failHandle(uint64_t number, const char *what) {
  std::string got =
      number == 0 ? "a null handle"
      : find(number)
          ? "a handle of another kind"
          : "a handle that was destroyed, or that no call has made";
  return fail(CKPT_INVALID_HANDLE,
              "expected " + std::string(what) + ", but got " + got);
}

CkptStatus ckpt::capi::failNull(const char *name) {
  return fail(CKPT_INVALID_ARGUMENT,
              "expected '" + std::string(name) + "' not to be null");
}

const char *ckptGetErrorMessage(void) { return lastMessage.c_str(); }

const char *ckptGetVersion(void) { return CKPT_VERSION; }
