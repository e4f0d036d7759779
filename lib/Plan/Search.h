//===- Search.h - What both solvers share -----------------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_SEARCH_H
#define CKPT_LIB_PLAN_SEARCH_H

#include "Rolling.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Solvers.h"

#include <chrono>

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

/// A finished walk, improved, without slots.
struct Draft {
  Plan plan;
  Verdict verdict;
  bool usable() const { return !plan.kernels.empty(); }
};

/// Walks once and improves the result within \p allowedBytes. Not usable if the
/// walk gave up.
Draft makeDraft(Rolling &rolling, const Graph &graph,
                const RollOptions &rollOptions, const SolverOptions &options,
                int64_t allowedBytes);

/// Places the slots of \p draft and judges the result.
Solution placeSlots(const Problem &problem, Draft draft, int64_t budgetBytes,
                    PackEffort effort = PackEffort::Search);
/// The same with what is known of kernels, which must belong to \p problem.
Solution placeSlots(const Problem &problem, Draft draft, int64_t budgetBytes,
                    PackEffort effort, KernelCache &kernels);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_SEARCH_H
