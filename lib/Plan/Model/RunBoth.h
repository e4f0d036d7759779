//===- RunBoth.h - Two alternatives, one per core ---------------*- C++ -*-===//
//
// Solvers look at alternatives in a fixed order and take the first that is good
// enough, so that results do not depend on the number of processors. Two
// neighbours in that order are looked at at once.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_RUNBOTH_H
#define CKPT_LIB_PLAN_MODEL_RUNBOTH_H

#include <future>
#include <utility>

namespace ckpt::plan {

/// What both functions return; \p second runs on another thread, or after
/// \p first where the \p size of what they look at is not worth one.
template <typename First, typename Second>
auto runBoth(size_t size, First first, Second second) {
  constexpr size_t worthAThread = 64;
  auto other = std::async(size < worthAThread ? std::launch::deferred
                                              : std::launch::async,
                          std::move(second));
  auto mine = first();
  return std::make_pair(std::move(mine), other.get());
}

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_RUNBOTH_H
