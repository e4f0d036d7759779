//===- BudgetWalk.cpp - One setting of prices, walked ---------------------===//

#include "BudgetWalk.h"

#include <algorithm>

using namespace ckpt::plan;

const LooseWalks::Walk &LooseWalks::get(const Problem &problem,
                                        Rolling &rolling,
                                        const RollOptions &options) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Entry &entry : entries)
    if (entry.floorPrice == options.floorPrice &&
        entry.contractionWeight == options.contractionWeight &&
        entry.readWeight == options.readWeight &&
        entry.urgency == options.urgency)
      return *entry.walk;
  RollOptions unlimited = options;
  unlimited.capBytes = RollOptions().capBytes;
  unlimited.mostExtraFlops = RollOptions().mostExtraFlops;
  unlimited.runOnce = nullptr;
  unlimited.reserve = 0;
  unlimited.delayHeld = false;
  RollResult result = rolling.run(unlimited);
  auto walk = std::make_unique<Walk>();
  if (result.complete && !result.rootOrder.empty()) {
    int32_t peak = validate(problem, result.plan, false).peakKernel;
    size_t index = std::lower_bound(result.rootKernel.begin(),
                                    result.rootKernel.end(), peak) -
                   result.rootKernel.begin();
    walk->tightest =
        result.rootOrder[std::min(index, result.rootOrder.size() - 1)];
    walk->order = std::move(result.rootOrder);
  }
  entries.push_back({options.floorPrice, options.contractionWeight,
                     options.readWeight, options.urgency, std::move(walk)});
  return *entries.back().walk;
}

Draft BudgetWalk::run(const Setting &setting, double capBytes,
                      int64_t allowedBytes, const WalkLimits &limits) {
  RollOptions rollOptions;
  rollOptions.capBytes = static_cast<int64_t>(capBytes);
  rollOptions.floorPrice = setting.floorPrice;
  rollOptions.contractionWeight = setting.contractionWeight;
  rollOptions.readWeight = setting.readWeight;
  rollOptions.urgency = setting.urgency;
  rollOptions.reserve = setting.reserve;
  rollOptions.reorder = options.reorder;
  rollOptions.delayHeld = options.reorder && setting.delayHeld;
  rollOptions.kernelsPerNew = limits.kernelsPerNew;
  rollOptions.mostExtraFlops = limits.extraFlops;
  rollOptions.runOnce = limits.runOnce;
  rollOptions.deadline = limits.deadline;
  rollOptions.cutoff = limits.cutoff;
  Guide guide;
  if (setting.guided) {
    const LooseWalks::Walk &walk =
        loose.get(graph.problem, rolling, rollOptions);
    if (walk.tightest != none) {
      guide = rolling.makeGuide(rollOptions, walk.order, walk.tightest);
      rollOptions.guide = &guide;
    }
    rollOptions.reserve = 0;
  }
  return makeDraft(rolling, graph, rollOptions, options, allowedBytes);
}
