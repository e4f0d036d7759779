//===- Marks.h - Sets that are emptied in constant time ---------*- C++ -*-===//
//
// The cut scheduler collects sets of ops and values after every kernel. To
// clear a flag per op each time would take longer than the search.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_MARKS_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_MARKS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ckpt::plan {

/// A set of numbers below the count that the constructor gets.
class Marks {
public:
  explicit Marks(size_t count) : stamps(count, 0) {}

  void clear() { ++now; }
  /// Returns whether \p number is new.
  bool insert(int32_t number) {
    bool isNew = stamps[number] != now;
    stamps[number] = now;
    return isNew;
  }
  bool has(int32_t number) const { return stamps[number] == now; }

private:
  int32_t now = 1;
  std::vector<int32_t> stamps;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_MARKS_H
