//===- Memory.cpp - Memory of the fake device -----------------------------===//

#include "FakeCuda.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace fake;

namespace {
struct Allocation {
  size_t bytes;
  /// With an unmapped page behind it.
  size_t mappedBytes;
};
} // namespace

static std::map<DeviceAddress, Allocation> allocations;
static int64_t allocatedBytes = 0;
static int openCount = 0;

static void *toPointer(DeviceAddress address) {
  return reinterpret_cast<void *>(address);
}

static int protection() { return openCount ? PROT_READ | PROT_WRITE : 0; }

Result fake::allocate(DeviceAddress &address, size_t bytes) {
  if (bytes == 0)
    return invalidValue;
  if (static_cast<int64_t>(bytes) > freeBytes())
    return outOfMemory;
  size_t page = sysconf(_SC_PAGESIZE);
  size_t usable = llvm::alignTo(bytes, page);
  void *memory = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return outOfMemory;
  std::memset(memory, 0xFF, usable);
  mprotect(static_cast<char *>(memory) + usable, page, PROT_NONE);
  mprotect(memory, usable, protection());
  address = reinterpret_cast<uintptr_t>(memory);
  allocations[address] = {bytes, usable + page};
  allocatedBytes += bytes;
  return success;
}

Result fake::release(DeviceAddress address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return invalidValue;
  munmap(toPointer(address), found->second.mappedBytes);
  allocatedBytes -= found->second.bytes;
  allocations.erase(found);
  return success;
}

bool fake::isAllocated(DeviceAddress address, size_t bytes) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return false;
  auto [start, allocation] = *std::prev(after);
  return address + bytes <= start + allocation.bytes;
}

int64_t fake::freeBytes() { return faults().memoryBytes - allocatedBytes; }

void fake::openMemory(bool open) {
  openCount += open ? 1 : -1;
  size_t page = sysconf(_SC_PAGESIZE);
  for (auto &[address, allocation] : allocations)
    mprotect(toPointer(address), allocation.mappedBytes - page, protection());
}
