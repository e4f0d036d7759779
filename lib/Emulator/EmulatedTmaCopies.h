//===- EmulatedTmaCopies.h - Copies of boxes on their way -------*- C++ -*-===//
//
// Copies by tensor maps that a block has asked for, and the barriers in shared
// memory that count their bytes (mbarrier). A copy may arrive at once or as
// late as can be, and before or after others. A read before the copy is there,
// or a copy that was asked for too early and overwrites a value, shows in the
// results.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_EMULATOR_EMULATEDTMACOPIES_H
#define CKPT_LIB_EMULATOR_EMULATEDTMACOPIES_H

#include "Emulator/EmulatedTensorMap.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ckpt {

/// The copies of one block. Functions that return a string name a fault of a
/// thread that a device does not allow; it is empty without a fault.
class EmulatedTmaCopies {
public:
  /// Calls \p hasArrived with where and how many bytes.
  using HasArrived = std::function<void(const char *, int64_t)>;

  /// Shared memory that the launch asks for; nothing is on its way.
  void enter(char *data, int64_t bytes, HasArrived hasArrived);

  /// Makes a barrier whose phases end when \p count threads have come and all
  /// bytes that they expect.
  std::string makeBarrier(int64_t thread, const char *barrier, int32_t count);
  /// Lets copies see the barriers that the thread has made.
  void fenceProxies(int64_t thread);
  std::string expect(const char *barrier, int32_t bytes);
  /// Whether the phase of \p parity has ended.
  std::string test(const char *barrier, int32_t parity, bool &isOver) const;

  /// Asks for a box.
  std::string copy(char *target, const char *barrier, const void *map,
                   int64_t rank, const int32_t *corner);
  /// Copies on their way.
  size_t getCount() const { return copies.size(); }
  /// Lets one of them arrive.
  void arrive(size_t number);

private:
  struct Barrier {
    int64_t maker;
    int32_t count;
    bool isFenced = false;
    /// Threads and bytes still to come in this phase.
    int32_t threads;
    int64_t bytes = 0;
    int32_t parity = 0;
  };
  struct Copy {
    char *target;
    Barrier *barrier;
    EmulatedTensorMap map;
    EmulatedTensorMap::Counts corner;
  };

  static void endPhase(Barrier &barrier);
  bool holds(const char *address, int64_t bytes) const;

  char *data = nullptr;
  int64_t bytes = 0;
  HasArrived hasArrived;
  std::map<const char *, Barrier> barriers;
  std::vector<Copy> copies;
};

} // namespace ckpt

#endif // CKPT_LIB_EMULATOR_EMULATEDTMACOPIES_H
