//===- EmulatedWarpgroup.cpp - wgmma of the threads of a block ------------===//

#include "Emulator/EmulatedWarpgroup.h"
#include "Emulator/EmulatedWarp.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

using namespace ckpt;

static constexpr int64_t rowsAtOnce = 64, stepsAtOnce = 16;

bool WarpgroupMultiply::operator==(const WarpgroupMultiply &other) const {
  return left == other.left && right == other.right &&
         columns == other.columns && isBfloat == other.isBfloat &&
         leftTransposed == other.leftTransposed &&
         rightTransposed == other.rightTransposed;
}

bool Warpgroups::Event::operator==(const Event &other) const {
  return kind == other.kind && multiply == other.multiply &&
         pending == other.pending;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The bits of the device's addresses of shared memory in descriptors.
static constexpr uint64_t addressMask = (1 << 18) - 1;

void AsyncView::enter(const char *memory, int64_t count) {
  data = memory;
  bytes.assign(count, char(0xFF));
}

bool AsyncView::holds(const char *address) const {
  return address >= data && address < data + bytes.size();
}

void AsyncView::update(const char *address, int64_t count) {
  std::memcpy(bytes.data() + (address - data), address, count);
}

void AsyncView::forget(const char *address, int64_t count) {
  std::memset(bytes.data() + (address - data), 0xFF, count);
}

const uint16_t *AsyncView::at(uint64_t address) const {
  uint64_t offset = (address - reinterpret_cast<uintptr_t>(data)) & addressMask;
  if (offset + sizeof(uint16_t) > bytes.size())
    return nullptr;
  return reinterpret_cast<const uint16_t *>(bytes.data() + offset);
}

namespace {
/// The fields of the 64 bits, in the order of the PTX manual.
struct Descriptor {
  explicit Descriptor(uint64_t bits)
      : start(bytesAt(bits, 0)), leading(bytesAt(bits, 16)),
        stride(bytesAt(bits, 32)), baseOffset(bits >> 49 & 7),
        swizzle(bits >> 62) {}

  /// Fourteen bits that count units of 16 bytes.
  static uint64_t bytesAt(uint64_t bits, unsigned position) {
    return (bits >> position & 0x3FFF) << 4;
  }

  uint64_t addressOf(uint64_t outer, uint64_t step, bool transposed) const;

  uint64_t start, leading, stride, baseOffset, swizzle;
};
} // namespace

/// Address of the element in row (column) \p outer. Both layouts are made of
/// squares of eight lines of 128 bytes; the bits that count lines in such a
/// square flip the bits that count 16 bytes in a line.
uint64_t Descriptor::addressOf(uint64_t outer, uint64_t step,
                               bool transposed) const {
  uint64_t address = start;
  if (transposed)
    address += outer / 64 * leading + outer % 64 * 2 + step / 8 * stride +
               step % 8 * 128;
  else
    address += outer / 8 * stride + outer % 8 * 128 + step * 2;
  return address ^ (address >> 7 & 7) << 4;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// A quiet NaN that no arithmetic makes: its payload tells whose register it
/// is, and which.
static constexpr uint32_t nameBits = 0x7FC00000, namedBits = 14;

static float nameOf(uint32_t sums, uint32_t number) {
  return llvm::bit_cast<float>(nameBits | sums << 8 | number);
}

/// The sums that \p value names, or 0.
static uint32_t namedBy(float value) {
  auto bits = llvm::bit_cast<uint32_t>(value);
  return (bits & nameBits) == nameBits && !(bits >> 31) ? (bits & 0x3FFFFF) >> 8
                                                        : 0;
}

/// The part of a thread: warp w has rows 16 w and on; its thread t has two
/// neighbours in row t / 4, and in row t / 4 + 8, of every eight columns.
std::string Warpgroups::run(int64_t thread, const WarpgroupMultiply &what,
                            std::vector<float> &sums) const {
  Descriptor left(what.left), right(what.right);
  for (const Descriptor &operand : {left, right})
    if (operand.swizzle != 1 || operand.baseOffset != 0)
      return "expects a matrix in lines of 128 bytes that are swizzled";
  bool isInside = true;
  auto read = [&](const Descriptor &operand, int64_t outer, bool transposed,
                  float *to) {
    for (int64_t step = 0; step < stepsAtOnce; ++step) {
      const uint16_t *at = view.at(operand.addressOf(outer, step, transposed));
      isInside &= at != nullptr;
      to[step] = at ? widen(*at, what.isBfloat) : 0;
    }
  };
  int64_t warp = thread % warpgroupThreads / warpThreads;
  int64_t lane = thread % warpThreads;
  float lefts[2][stepsAtOnce], rights[stepsAtOnce];
  for (int64_t half = 0; half < 2; ++half)
    read(left, warp * 16 + half * 8 + lane / 4, what.leftTransposed,
         lefts[half]);
  for (int64_t column = 0; column < what.columns / 4; ++column) {
    read(right, column / 2 * 8 + lane % 4 * 2 + column % 2,
         what.rightTransposed, rights);
    for (int64_t half = 0; half < 2; ++half) {
      float &sum = sums[column / 2 * 4 + half * 2 + column % 2];
      for (int64_t step = 0; step < stepsAtOnce; ++step)
        sum = std::fma(lefts[half][step], rights[step], sum);
    }
  }
  return isInside ? "" : "names a matrix outside of its shared memory";
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

void Warpgroups::enter(int64_t threadCount, const char *data, int64_t bytes) {
  view.enter(data, bytes);
  threads.assign(threadCount, Thread());
  events.assign(threadCount / warpgroupThreads, {});
}

bool Warpgroups::haveSameEnds() const {
  for (size_t thread = 0; thread < events.size() * warpgroupThreads; ++thread)
    if (threads[thread].events != events[thread / warpgroupThreads].size())
      return false;
  return true;
}

void Warpgroups::noteWrite(int64_t thread, const char *address, int64_t bytes) {
  if (!view.holds(address))
    return;
  view.forget(address, bytes);
  threads[thread].writes.push_back({address, bytes});
}

void Warpgroups::fenceProxies(int64_t thread) {
  for (const Write &write : threads[thread].writes)
    view.update(write.address, write.bytes);
  threads[thread].writes.clear();
}

/// All threads of a warpgroup have to make the same, in the same order.
std::string Warpgroups::note(int64_t thread, const Event &event) {
  size_t group = thread / warpgroupThreads;
  if (group >= events.size())
    return "is in no whole warpgroup";
  size_t number = threads[thread].events++;
  if (number == events[group].size())
    events[group].push_back(event);
  return events[group][number] == event
             ? ""
             : "makes another instruction than others of its warpgroup";
}

std::string Warpgroups::fence(int64_t thread) {
  threads[thread].isFenced = true;
  return note(thread, {Event::Fence, {}, 0});
}

std::string Warpgroups::multiply(int64_t thread, const WarpgroupMultiply &what,
                                 float *sums) {
  Thread &self = threads[thread];
  uint32_t count = rowsAtOnce * what.columns / warpgroupThreads;
  uint32_t name = namedBy(sums[0]);
  bool goesOn = self.sums.count(name);
  for (uint32_t number = 0; number < count; ++number)
    if (goesOn && llvm::bit_cast<uint32_t>(sums[number]) !=
                      llvm::bit_cast<uint32_t>(nameOf(name, number)))
      return "mixes registers that are at work";
  if (!goesOn) {
    // The device may not see earlier writes to registers.
    name = self.made = self.made % ((1 << namedBits) - 1) + 1;
    self.sums[name].values.assign(count, NAN);
    if (self.isFenced)
      self.sums[name].values.assign(sums, sums + count);
  }
  ++self.sums[name].running;
  self.open.push_back({name, what});
  for (uint32_t number = 0; number < count; ++number)
    sums[number] = nameOf(name, number);
  return note(thread, {Event::Multiply, what, 0});
}

std::string Warpgroups::commit(int64_t thread) {
  Thread &self = threads[thread];
  self.groups.push_back(std::exchange(self.open, {}));
  return note(thread, {Event::Commit, {}, 0});
}

std::string Warpgroups::wait(int64_t thread, int64_t pending) {
  Thread &self = threads[thread];
  for (; self.groups.size() > static_cast<size_t>(pending);
       self.groups.pop_front())
    for (const Running &running : self.groups.front()) {
      Sums &sums = self.sums[running.sums];
      --sums.running;
      if (std::string error = run(thread, running.what, sums.values);
          !error.empty())
        return error;
    }
  return note(thread, {Event::Wait, {}, pending});
}

void Warpgroups::settle(int64_t thread, float *registers, int32_t count) {
  Thread &self = threads[thread];
  self.isFenced = false;
  std::set<uint32_t> settled;
  for (int32_t number = 0; number < count; ++number) {
    auto found = self.sums.find(namedBy(registers[number]));
    if (found == self.sums.end() || found->second.running > 0)
      continue;
    auto bits = llvm::bit_cast<uint32_t>(registers[number]);
    registers[number] = found->second.values[bits & 0xFF];
    settled.insert(found->first);
  }
  for (uint32_t name : settled)
    self.sums.erase(name);
}
