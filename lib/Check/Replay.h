//===- Replay.h - Plays a plan by the rules of kernels ----------*- C++ -*-===//

#ifndef CKPT_LIB_CHECK_REPLAY_H
#define CKPT_LIB_CHECK_REPLAY_H

#include "Step.h"

namespace ckpt::check {

/// Products of 64-bit numbers.
__extension__ typedef __int128 Wide;

/// Reads, takeovers and cost of a kernel.
struct KernelFacts {
  std::set<int> memoryReads;
  /// (value read, position among the outputs) that may share a place.
  std::set<std::pair<int, int>> inPlace;
  int64_t workspaceBytes = 0;
  int64_t timeNs = 0;
};

/// False if the kernel breaks a rule.
bool judgeKernel(const Step &step, const StepKernel &kernel, KernelFacts &facts,
                 Refusal &refusal);

struct PlanFacts {
  int64_t timeNs = 0, extraFlops = 0;
};

/// False unless every kernel is legal, every value stands in memory when it is
/// read, every demand of the step is obeyed, and no two places overlap.
bool replay(const Step &step, const StepPlan &plan, PlanFacts &facts,
            Refusal &refusal);

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_REPLAY_H
