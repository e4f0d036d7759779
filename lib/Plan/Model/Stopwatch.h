//===- Stopwatch.h - The time since a moment --------------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_MODEL_STOPWATCH_H
#define CKPT_LIB_PLAN_MODEL_STOPWATCH_H

#include <chrono>
#include <cstdint>

namespace ckpt::plan {

/// Milliseconds since a moment.
class Stopwatch {
public:
  int64_t ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now() - begin)
        .count();
  }
  std::chrono::steady_clock::time_point start() const { return begin; }

private:
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_STOPWATCH_H
