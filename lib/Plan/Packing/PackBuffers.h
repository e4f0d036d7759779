//===- PackBuffers.h - Packing without the plan -----------------*- C++ -*-===//
//
// The geometric half of packing: rectangles with a fixed extent in time get an
// offset. Simple orders come first, the search next. Orders that learn from
// their misses serve problems too large for the search. `packBuffers` calls all
// of them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PACKING_PACKBUFFERS_H
#define CKPT_LIB_PLAN_PACKING_PACKBUFFERS_H

#include "ckpt/Plan/Pack.h"

namespace ckpt::plan {

/// The key by which buffers are placed, the largest first.
using Criterion = double (*)(const Buffer &);
std::vector<int32_t> largestFirst(const std::vector<Buffer> &buffers,
                                  Criterion criterion);

/// Fixed orders with first and best fit; stops at an arena of
/// \p goalBytes or less.
Packing packByOrders(const std::vector<Buffer> &buffers, int64_t goalBytes);

/// Orders that learn: a buffer that ends above the goal is placed earlier next
/// time (squeaky wheel optimization; Joslin and Clements, JAIR 10, 1999).
Packing packByReordering(const std::vector<Buffer> &buffers, int64_t goalBytes);

/// Fills the arena from the floor up in at most \p mostTries orders, the first
/// two of them fixed, in near-linear time; stops at an arena of \p goalBytes or
/// less.
Packing packLowestFirst(const std::vector<Buffer> &buffers, int64_t goalBytes,
                        int mostTries);

/// \p buffers with the moments at which one starts numbered from 0: the others
/// have no more to hold.
std::vector<Buffer> withoutIdleMoments(const std::vector<Buffer> &buffers);

/// Search for packings of one set of buffers at several capacities.
class PackSearch {
public:
  /// Finds nothing after \p deadline, if there is one.
  explicit PackSearch(const std::vector<Buffer> &buffers,
                      const Deadline *deadline = nullptr);

  /// Steps in which as many \p buffers are placed once, with few to spare.
  static int64_t onceSteps(size_t buffers) {
    int64_t count = static_cast<int64_t>(buffers);
    return 6 * count * count + 1;
  }

  /// Searches a packing of at most \p capacityBytes; true if it found one. Each
  /// of two threads may do \p stepsLeft of counted work; the call subtracts the
  /// work done.
  bool find(int64_t capacityBytes, int64_t &stepsLeft, Packing &packing) const;

private:
  const std::vector<Buffer> &buffers;
  const Deadline *deadline;
  /// The same with fewer moments.
  std::vector<Buffer> spans;
  /// For each buffer, the buffers that live at the same time at some point.
  std::vector<std::vector<int32_t>> neighbours;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PACKING_PACKBUFFERS_H
