//===- EmulatedWarpgroup.h - wgmma of the threads of a block ----*- C++ -*-===//
//
// Matrix instructions of 128 threads. They run on their own: until a thread
// waits for them, its sums are NaNs, and operands are read from shared memory
// only then. They read it by the asynchronous proxy: a thread's writes there
// are NaNs until that thread has made a fence between the proxies.
//
// Registers at work hold NaNs that name them. The emulator therefore knows when
// one instruction goes on with the sums of another, which needs no wait, and
// every other use shows in the results.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EMULATOR_EMULATEDWARPGROUP_H
#define CKPT_LIB_EMULATOR_EMULATEDWARPGROUP_H

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace ckpt {

inline constexpr int64_t warpgroupThreads = 128;

/// 64 rows times `columns` sums of 16 products each. Operands are named by
/// descriptors; transposed ones have rows (columns) as neighbours, not steps.
struct WarpgroupMultiply {
  uint64_t left, right;
  int32_t columns;
  bool isBfloat, leftTransposed, rightTransposed;

  bool operator==(const WarpgroupMultiply &other) const;
};

/// Shared memory that a launch asks for, as the asynchronous proxy sees it.
class AsyncView {
public:
  /// Nothing has been written yet.
  void enter(const char *data, int64_t bytes);
  bool holds(const char *address) const;
  /// Takes over the bytes at \p address.
  void update(const char *address, int64_t bytes);
  /// Makes them NaNs: they are written, but nobody knows when that shows.
  void forget(const char *address, int64_t bytes);
  /// Reads at \p address of the device, of which \p data has the low bits; null
  /// outside.
  const uint16_t *at(uint64_t address) const;

private:
  const char *data = nullptr;
  std::vector<char> bytes;
};

/// All warpgroups of a block. Functions that return a string name a fault of a
/// thread that a device does not allow; it is empty without a fault.
class Warpgroups {
public:
  void enter(int64_t threadCount, const char *data, int64_t bytes);
  /// Whether all threads of a warpgroup have made equally many instructions.
  bool haveSameEnds() const;

  /// Notes a copy by the asynchronous proxy itself.
  void noteArrival(const char *address, int64_t bytes) {
    view.update(address, bytes);
  }
  void noteWrite(int64_t thread, const char *address, int64_t bytes);
  void fenceProxies(int64_t thread);

  std::string fence(int64_t thread);
  std::string multiply(int64_t thread, const WarpgroupMultiply &what,
                       float *sums);
  std::string commit(int64_t thread);
  std::string wait(int64_t thread, int64_t pending);
  /// Puts sums that have been waited for in place of their names.
  void settle(int64_t thread, float *registers, int32_t count);

private:
  struct Event {
    enum Kind { Fence, Multiply, Commit, Wait } kind;
    WarpgroupMultiply multiply;
    int64_t pending;

    bool operator==(const Event &other) const;
  };
  struct Write {
    const char *address;
    int64_t bytes;
  };
  struct Sums {
    std::vector<float> values;
    int64_t running = 0;
  };
  struct Running {
    uint32_t sums;
    WarpgroupMultiply what;
  };
  struct Thread {
    std::vector<Write> writes;
    /// Whether registers may be used since the program has last had them.
    bool isFenced = false;
    uint32_t made = 0;
    std::map<uint32_t, Sums> sums;
    std::vector<Running> open;
    std::deque<std::vector<Running>> groups;
    size_t events = 0;
  };

  std::string note(int64_t thread, const Event &event);
  std::string run(int64_t thread, const WarpgroupMultiply &what,
                  std::vector<float> &sums) const;

  AsyncView view;
  std::vector<Thread> threads;
  /// Events of the first thread so far of every warpgroup.
  std::vector<std::vector<Event>> events;
};

} // namespace ckpt

#endif // CKPT_LIB_EMULATOR_EMULATEDWARPGROUP_H
