//===- Work.h - Work of the planner, counted --------------------*- C++ -*-===//
//
// Inner loops report the work that they do, in nanoseconds that it takes about.
// The count depends on the problem alone: with it as their clock, searches end
// at the same plan on every machine. Clock.h reads it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_WORK_H
#define CKPT_LIB_PLAN_MODEL_WORK_H

#include <algorithm>
#include <cstdint>

namespace ckpt::plan {

/// The work of this thread.
class Work {
public:
  /// One inner loop did work of about \p ns.
  static void spend(int64_t ns) { done += ns; }
  static int64_t ns() { return done; }

  /// Whether a clock counts the work of this thread, which then does all of it.
  static bool isClock() { return clocks > 0; }
  static void startClock() { ++clocks; }
  static void stopClock() { --clocks; }

  /// Counts two lanes that run one after the other as two cores would.
  class Lanes {
  public:
    void startSecond() {
      first = done;
      done = begin;
    }
    void join() { done = std::max(first, done); }

  private:
    int64_t begin = done;
    int64_t first = 0;
  };

private:
  static inline thread_local int64_t done = 0;
  static inline thread_local int32_t clocks = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_WORK_H
