//===- Revolve.cpp - Binomial schedules of uniform chains -----------------===//
//
// After Griewank and Walther, "Algorithm 799: revolve" (ACM TOMS 26, 2000):
// with c kept states, the first among them, and no stage run forward more than
// r times, chains of at most C(c + r, c) stages can be reversed. A split is
// optimal if both of its parts stay within the numbers of its parts.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/Revolve.h"
#include "Plan/Published/Baseline.h"
#include "Plan/Published/Stages.h"

#include <algorithm>

using namespace ckpt::plan;

/// C(states + repeats, states), or more than any chain is long.
static int64_t reversible(int64_t states, int64_t repeats) {
  constexpr int64_t longest = int64_t{1} << 31;
  if (states < 0 || repeats < 0)
    return 0;
  int64_t result = 1;
  for (int64_t i = 1; i <= std::min(states, repeats); ++i) {
    result = result * (std::max(states, repeats) + i) / i;
    if (result > longest)
      return longest;
  }
  return result;
}

/// Number of stages after the first at which the next state is kept.
static int32_t splitAfter(int64_t stages, int64_t slots) {
  int64_t states = slots + 1, repeats = 1;
  while (reversible(states, repeats) < stages)
    ++repeats;
  int64_t first = std::max(reversible(states, repeats - 2),
                           stages - reversible(states - 1, repeats));
  return static_cast<int32_t>(std::clamp<int64_t>(first, 1, stages - 1));
}

static void reverse(int32_t first, int32_t stages, int32_t slots,
                    std::vector<ChainStep> &steps) {
  if (stages == 1 || slots == 0) {
    for (int32_t stage = first + stages; stage-- > first;)
      steps.push_back({ChainStep::Kind::Backward, stage});
    return;
  }
  int32_t split = splitAfter(stages, slots);
  steps.push_back({ChainStep::Kind::SaveInput, first + split});
  reverse(first + split, stages - split, slots - 1, steps);
  steps.push_back({ChainStep::Kind::DropInput, first + split});
  reverse(first, split, slots, steps);
}

std::vector<ChainStep> ckpt::plan::revolveSteps(int32_t stages, int32_t slots) {
  std::vector<ChainStep> steps;
  if (stages > 0)
    reverse(0, stages, slots, steps);
  return steps;
}

void ckpt::plan::addRevolve(BaselineRun &run) {
  KernelGraph graph(run.problem, run.unlimited.plan);
  Stages stages(run.problem);
  KernelChain chain(graph, stages.ofOp, stages.count);
  // All numbers of slots of short chains; ever fewer of long ones.
  for (int32_t slots = 1; slots < std::max(2, stages.count);
       slots += 1 + slots / 16) {
    std::vector<ChainStep> steps = revolveSteps(stages.count, slots);
    run.addPlan("slots " + std::to_string(slots),
                graph.emit(followSteps(chain, steps)));
  }
}
