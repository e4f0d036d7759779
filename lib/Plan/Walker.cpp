//===- Walker.cpp - Walks with the settings of the portfolio --------------===//

#include "Walker.h"

#include <algorithm>

using namespace ckpt::plan;

std::optional<Guide> Walker::guideFor(const RollOptions &rollOptions) {
  auto matches = [&](const Loose &walk) {
    return walk.floorPrice == rollOptions.floorPrice &&
           walk.contractionWeight == rollOptions.contractionWeight &&
           walk.readWeight == rollOptions.readWeight;
  };
  auto found = std::find_if(loose.begin(), loose.end(), matches);
  if (found == loose.end()) {
    RollOptions unlimited = rollOptions;
    unlimited.capBytes = RollOptions().capBytes;
    unlimited.reserve = 0;
    unlimited.delayHeld = false;
    RollResult walk = rolling.run(unlimited);
    if (!walk.complete)
      return std::nullopt;
    int32_t peak = validate(problem, walk.plan, false).peakKernel;
    size_t index =
        std::lower_bound(walk.rootKernel.begin(), walk.rootKernel.end(), peak) -
        walk.rootKernel.begin();
    OpId tightest = walk.rootOrder[std::min(index, walk.rootOrder.size() - 1)];
    loose.push_back({rollOptions.floorPrice, rollOptions.contractionWeight,
                     rollOptions.readWeight, std::move(walk.rootOrder),
                     tightest});
    found = loose.end() - 1;
  }
  return rolling.makeGuide(rollOptions, found->order, found->tightest);
}

void Walker::measure(const Verdict &verdict) {
  int64_t flops = 1;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op] && isAnchor(problem.ops[op]))
      flops += problem.ops[op].flops;
  timePerFlop = static_cast<double>(verdict.timeNs) /
                static_cast<double>(flops + verdict.extraFlops);
}

Draft Walker::walk(const Setting &setting, double capBytes,
                   int64_t allowedBytes, size_t kernelsPerRoot,
                   TimePoint deadline) {
  RollOptions rollOptions;
  rollOptions.capBytes = static_cast<int64_t>(capBytes);
  rollOptions.floorPrice = setting.floorPrice;
  rollOptions.contractionWeight = setting.contractionWeight;
  rollOptions.readWeight = setting.readWeight;
  rollOptions.reserve = setting.reserve;
  rollOptions.reorder = options.reorder;
  rollOptions.delayHeld = options.reorder && setting.delayHeld;
  rollOptions.kernelsPerRoot = kernelsPerRoot;
  rollOptions.deadline = deadline;
  std::optional<Guide> guide;
  if (setting.guided) {
    guide = guideFor(rollOptions);
    if (guide)
      rollOptions.guide = &*guide;
    rollOptions.reserve = 0;
  }
  Draft draft = makeDraft(rolling, graph, rollOptions, options, allowedBytes);
  if (timePerFlop == 0 && draft.usable())
    measure(draft.verdict);
  return draft;
}
