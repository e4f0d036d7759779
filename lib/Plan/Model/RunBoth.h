//===- RunBoth.h - Two alternatives, one per core ---------------*- C++ -*-===//
//
// Solvers look at alternatives in a fixed order and take the first that is good
// enough, so that results do not depend on the number of processors. Two
// neighbours in that order run at once. With counted work they run one after
// the other, as the outcome of one may end the other.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_RUNBOTH_H
#define CKPT_LIB_PLAN_MODEL_RUNBOTH_H

#include "Plan/Model/Work.h"

#include <future>
#include <utility>

namespace ckpt::plan {

/// Runs \p function for lane 0 and, on another thread, for lane 1.
template <typename Function>
void runLanes(Function function) {
  if (Work::isClock()) {
    Work::Lanes lanes;
    function(size_t{0});
    lanes.startSecond();
    function(size_t{1});
    lanes.join();
    return;
  }
  std::future<void> other =
      std::async(std::launch::async, [&] { function(size_t{1}); });
  function(size_t{0});
  other.get();
}

/// The results of both functions. \p second runs on another thread, or after \p
/// first if \p size items are not worth a thread.
template <typename First, typename Second>
auto runBoth(size_t size, First first, Second second) {
  constexpr size_t worthAThread = 64;
  using Results = std::pair<decltype(first()), decltype(second())>;
  if (size < worthAThread) {
    auto mine = first();
    return Results(std::move(mine), second());
  }
  Results results;
  runLanes([&](size_t lane) {
    if (lane == 0)
      results.first = first();
    else
      results.second = second();
  });
  return results;
}

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_RUNBOTH_H
