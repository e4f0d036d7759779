//===- CutWalk.cpp - One setting of prices, walked ------------------------===//
//
// Walks with one setting and cap, with a guide if the setting wants one. Guides
// are made once per setting for all caps.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutWalk.h"

#include <algorithm>

using namespace ckpt::plan;

const LooseWalks::Walk &LooseWalks::get(const Problem &problem,
                                        CutScheduler &scheduler,
                                        const CutOptions &options) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Entry &entry : entries)
    if (entry.floorPrice == options.floorPrice &&
        entry.contractionWeight == options.contractionWeight &&
        entry.readWeight == options.readWeight &&
        entry.urgency == options.urgency)
      return *entry.walk;
  CutOptions unlimited = options;
  unlimited.capBytes = CutOptions().capBytes;
  unlimited.mostExtraFlops = CutOptions().mostExtraFlops;
  unlimited.runOnce = nullptr;
  unlimited.reserve = 0;
  unlimited.delayHeld = false;
  CutSchedule result = scheduler.run(unlimited);
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

Draft CutWalk::run(const Setting &setting, double capBytes,
                   int64_t allowedBytes, const WalkLimits &limits) {
  CutOptions cutOptions;
  cutOptions.capBytes = static_cast<int64_t>(capBytes);
  cutOptions.floorPrice = setting.floorPrice;
  cutOptions.contractionWeight = setting.contractionWeight;
  cutOptions.readWeight = setting.readWeight;
  cutOptions.urgency = setting.urgency;
  cutOptions.reserve = setting.reserve;
  cutOptions.reorder = options.reorder;
  cutOptions.delayHeld = options.reorder && setting.delayHeld;
  cutOptions.mostExtraFlops = limits.extraFlops;
  cutOptions.runOnce = limits.runOnce;
  cutOptions.deadline = limits.deadline;
  cutOptions.cutoff = limits.cutoff;
  Guide guide;
  if (setting.guided) {
    const LooseWalks::Walk &walk =
        loose.get(graph.problem, scheduler, cutOptions);
    if (walk.tightest != none) {
      guide = scheduler.makeGuide(cutOptions, walk.order, walk.tightest);
      cutOptions.guide = &guide;
    }
    cutOptions.reserve = 0;
  }
  return makeDraft(scheduler, graph, cutOptions, options, allowedBytes);
}
