//===- PlanPool.cpp - Plans that no other plan makes superfluous ----------===//
//
// Keeps the plans that are best for some number of bytes. Searches enter every
// plan that they make; `solveFrontier` picks the points from it.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Frontier.h"

#include <algorithm>

using namespace ckpt::plan;

bool PlanPool::add(int64_t bytes, Solution solution) {
  auto isBetter = [](const Verdict &left, const Verdict &right) {
    return left.timeNs != right.timeNs ? left.timeNs < right.timeNs
                                       : left.extraFlops < right.extraFlops;
  };
  const Solution *rival = fastestWithin(bytes);
  if (rival && !isBetter(solution.verdict, rival->verdict))
    return false;
  auto larger = byBytes.lower_bound(bytes);
  while (larger != byBytes.end() &&
         !isBetter(larger->second.verdict, solution.verdict))
    larger = byBytes.erase(larger);
  byBytes.emplace_hint(larger, bytes, std::move(solution));
  return true;
}

const Solution *PlanPool::fastestWithin(int64_t bytes) const {
  auto larger = byBytes.upper_bound(bytes);
  return larger == byBytes.begin() ? nullptr : &std::prev(larger)->second;
}

void PlanPool::remove(const Solution *solution) {
  for (auto it = byBytes.begin(); it != byBytes.end(); ++it)
    if (&it->second == solution) {
      byBytes.erase(it);
      return;
    }
}

int64_t PlanPool::savedNs(int64_t bytes, int64_t timeNs,
                          int64_t stepBytes) const {
  double steepest = 0;
  for (auto it = byBytes.upper_bound(bytes); it != byBytes.end(); ++it)
    steepest = std::max(
        steepest, static_cast<double>(timeNs - it->second.verdict.timeNs) /
                      static_cast<double>(it->first - bytes));
  return static_cast<int64_t>(steepest * static_cast<double>(stepBytes));
}
