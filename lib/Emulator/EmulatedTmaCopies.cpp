//===- EmulatedTmaCopies.cpp - Copies of boxes on their way ---------------===//

#include "Emulator/EmulatedTmaCopies.h"

using namespace ckpt;

/// Bytes of a barrier in shared memory.
static constexpr int64_t barrierBytes = 8;
/// Places of boxes begin at multiples of it.
static constexpr int64_t boxAlignment = 128;

void EmulatedTmaCopies::enter(char *memory, int64_t count,
                              HasArrived callback) {
  data = memory;
  bytes = count;
  hasArrived = std::move(callback);
  barriers.clear();
  copies.clear();
}

bool EmulatedTmaCopies::holds(const char *address, int64_t count) const {
  return address >= data && address + count <= data + bytes;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void EmulatedTmaCopies::endPhase(Barrier &barrier) {
  if (barrier.threads > 0 || barrier.bytes != 0)
    return;
  barrier.threads = barrier.count;
  barrier.parity ^= 1;
}

std::string EmulatedTmaCopies::makeBarrier(int64_t thread, const char *barrier,
                                           int32_t count) {
  if (!holds(barrier, barrierBytes) ||
      reinterpret_cast<uintptr_t>(barrier) % barrierBytes != 0 || count < 1)
    return "makes a barrier that is none";
  Barrier &made = barriers[barrier];
  made = Barrier();
  made.maker = thread;
  made.count = made.threads = count;
  return "";
}

void EmulatedTmaCopies::fenceProxies(int64_t thread) {
  for (auto &[address, barrier] : barriers)
    barrier.isFenced |= barrier.maker == thread;
}

std::string EmulatedTmaCopies::expect(const char *barrier, int32_t count) {
  auto found = barriers.find(barrier);
  if (found == barriers.end())
    return "expects bytes at a barrier that no thread has made";
  Barrier &here = found->second;
  here.bytes += count;
  --here.threads;
  endPhase(here);
  return "";
}

std::string EmulatedTmaCopies::test(const char *barrier, int32_t parity,
                                    bool &isOver) const {
  auto found = barriers.find(barrier);
  if (found == barriers.end())
    return "waits at a barrier that no thread has made";
  isOver = found->second.parity != parity;
  return "";
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::string EmulatedTmaCopies::copy(char *target, const char *barrier,
                                    const void *parameter, int64_t rank,
                                    const int32_t *corner) {
  Copy copy{target, nullptr, {}, {}};
  if (std::string error = EmulatedTensorMap::read(parameter, copy.map);
      !error.empty())
    return error;
  if (copy.map.getRank() != rank)
    return "copies a box of another rank than its tensor map";
  if (!holds(target, copy.map.getBoxBytes()) ||
      reinterpret_cast<uintptr_t>(target) % boxAlignment != 0)
    return "copies a box to where there is no place for it";
  auto found = barriers.find(barrier);
  if (found == barriers.end() || !found->second.isFenced)
    return "copies a box for a barrier that copies do not see";
  copy.barrier = &found->second;
  for (int64_t i = 0; i < rank; ++i)
    copy.corner[i] = corner[i];
  copies.push_back(copy);
  return "";
}

void EmulatedTmaCopies::arrive(size_t number) {
  Copy copy = copies[number];
  copies.erase(copies.begin() + number);
  copy.map.copy(copy.corner, copy.target);
  hasArrived(copy.target, copy.map.getBoxBytes());
  copy.barrier->bytes -= copy.map.getBoxBytes();
  endPhase(*copy.barrier);
}
