//===- ReduceMemory.h - Brings a plan down to a limit -----------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_IMPROVE_REDUCEMEMORY_H
#define CKPT_LIB_PLAN_IMPROVE_REDUCEMEMORY_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Validate.h"

#include <limits>

namespace ckpt::plan {

struct MemoryOptions {
  int64_t budgetBytes = 0;
  /// Cost of an extra FLOP on top of its time, in nanoseconds.
  double flopNs = 0;
  /// Gives up once the plan takes this long, with the cost of extra FLOPs.
  double mostNs = std::numeric_limits<double>::max();
  /// If not 0, remats for a value cost about a tenth more or less, drawn per
  /// value: another way down.
  uint64_t seed = 0;
  /// Values that no kernel is repeated for.
  std::vector<ValueId> notAgain;
  Deadline deadline;

  /// Time of a plan, with what extra FLOPs count.
  double costNs(int64_t timeNs, int64_t extraFlops) const {
    return static_cast<double>(timeNs) +
           flopNs * static_cast<double>(extraFlops);
  }
  double costNs(const Verdict &verdict) const {
    return costNs(verdict.timeNs, verdict.extraFlops);
  }
};

/// Moves single kernels of \p plan, which must be valid without slots, runs
/// parts of them earlier and repeats them, with the makers of their operands,
/// until its largest live sum is within the budget. Returns whether it got
/// there; the plan stays valid.
bool reduceMemory(const Problem &problem, Plan &plan,
                  const MemoryOptions &options);
/// The same with the kernels already analysed, which must belong to \p problem.
bool reduceMemory(const Problem &problem, Plan &plan,
                  const MemoryOptions &options, KernelCache &kernels);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_REDUCEMEMORY_H
