//===- ReduceMemory.cpp - Brings a plan down to a limit -------------------===//
//
// The need of a walk is known only once its kernels are merged, and the next
// walk, with a slightly lower limit, may be quite another one. The unlimited
// plan, whose kernels are the best there are, is often a better start than any
// walk. This driver repeats the move that takes most off for its cost. All
// searches of the portfolio call it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/MemoryMoves.h"
#include "Plan/Model/PlanEdit.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

class MemoryReducer {
public:
  MemoryReducer(const Problem &problem, Plan &plan,
                const MemoryOptions &options, KernelCache &kernels)
      : problem(problem), plan(plan), options(options), kernels(kernels),
        changes(problem, plan, options, kernels) {}
  bool run();

private:
  using ChangeRange = std::pair<std::vector<Change>::const_iterator,
                                std::vector<Change>::const_iterator>;
  Needs measure() const {
    return measureNeeds(problem, plan, options.budgetBytes, kernels);
  }
  void rematGreedily(ChangeRange change);
  void move(int32_t kernel, int32_t place);
  bool make(ChangeRange change, double share);
  bool makeBest();

  const Problem &problem;
  Plan &plan;
  const MemoryOptions &options;
  KernelCache &kernels;
  MemoryMoves changes;
  Needs now;
};

} // namespace

/// Runs all copies of \p change in the places where they go.
void MemoryReducer::rematGreedily(ChangeRange change) {
  std::vector<std::vector<const Copy *>> copies(plan.kernels.size());
  size_t count = plan.kernels.size();
  for (auto it = change.first; it != change.second; ++it) {
    copies[it->place].insert(copies[it->place].end(), it->copies.begin(),
                             it->copies.end());
    count += it->copies.size();
  }
  std::vector<Kernel> next;
  next.reserve(count);
  for (size_t k = 0; k < copies.size(); ++k) {
    for (const Copy *copy : copies[k])
      next.push_back(copy->kernel);
    next.push_back(std::move(plan.kernels[k]));
  }
  plan.kernels = std::move(next);
}

/// Moves a kernel before the one that is at \p place.
void MemoryReducer::move(int32_t kernel, int32_t place) {
  auto at = [&](int32_t k) { return plan.kernels.begin() + k; };
  if (kernel < place)
    std::rotate(at(kernel), at(kernel + 1), at(place));
  else
    std::rotate(at(place), at(kernel), at(kernel + 1));
}

/// Makes the changes if they take off at least \p share of what they should.
bool MemoryReducer::make(ChangeRange change, double share) {
  int64_t gain = 0;
  for (auto it = change.first; it != change.second; ++it)
    gain += it->gain;
  Plan before = plan;
  const Change &first = *change.first;
  if (first.isMove()) {
    move(first.kernel, first.place);
  } else {
    if (first.rest)
      plan.kernels[first.kernel] = first.rest->kernel;
    rematGreedily(change);
    removeDeadOutputs(problem, plan);
  }
  Needs next = measure();
  int64_t taken = now.overflow - next.overflow;
  if (next.verdict.error.empty() && taken > 0 &&
      static_cast<double>(taken) >= share * static_cast<double>(gain)) {
    now = std::move(next);
    return true;
  }
  plan = std::move(before);
  return false;
}

/// Makes the best change that takes anything off; as long as much is to be
/// taken off, several that repeat kernels.
bool MemoryReducer::makeBest() {
  constexpr size_t mostTries = 64, mostAtOnce = 8;
  constexpr double mostOfIt = 0.7;
  const std::vector<Change> found = changes.find(now);
  auto end = found.begin();
  int64_t gain = 0;
  for (; end != found.end() && end->isRepeat() &&
         end < found.begin() + mostAtOnce;
       ++end) {
    gain += end->gain;
    if (gain > now.overflow / 4)
      break;
  }
  if (end > found.begin() + 1 && make({found.begin(), end}, mostOfIt))
    return true;
  size_t tries = std::min(found.size(), mostTries);
  for (auto it = found.begin(); it != found.begin() + tries; ++it) {
    if (make({it, it + 1}, 0))
      return true;
    changes.setFailed(*it);
  }
  return false;
}

bool MemoryReducer::run() {
  constexpr int mostSteps = 1000;
  now = measure();
  for (int step = 0; step < mostSteps; ++step) {
    if (now.verdict.livePeakBytes <= options.budgetBytes)
      return true;
    if (options.costNs(now.verdict) > options.mostNs ||
        options.deadline.isOver())
      return false;
    // What failed may do now.
    if (!makeBest() && !(changes.forgetFailed() && makeBest()))
      return false;
  }
  return false;
}

bool ckpt::plan::reduceMemory(const Problem &problem, Plan &plan,
                              const MemoryOptions &options) {
  KernelCache kernels(problem);
  return reduceMemory(problem, plan, options, kernels);
}

bool ckpt::plan::reduceMemory(const Problem &problem, Plan &plan,
                              const MemoryOptions &options,
                              KernelCache &kernels) {
  return MemoryReducer(problem, plan, options, kernels).run();
}
