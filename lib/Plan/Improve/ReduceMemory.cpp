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

#include <algorithm>

using namespace ckpt::plan;

namespace {

class MemoryReducer {
public:
  MemoryReducer(const Problem &problem, Plan &plan,
                const MemoryOptions &options, KernelCache &kernels)
      : problem(problem), plan(plan), options(options), kernels(kernels),
        state(problem, std::move(plan), kernels),
        changes(problem, state, options, kernels) {}
  bool run();

private:
  using ChangeRange = std::pair<std::vector<Change>::const_iterator,
                                std::vector<Change>::const_iterator>;
  Edit editOf(ChangeRange change) const;
  bool isValid() const;
  bool make(ChangeRange change, double share);
  bool makeBest();
  bool reduce();

  const Problem &problem;
  Plan &plan;
  const MemoryOptions &options;
  KernelCache &kernels;
  PlanState state;
  MemoryMoves changes;
};

} // namespace

/// Runs all copies of \p change in their places.
Edit MemoryReducer::editOf(ChangeRange change) const {
  Edit edit;
  const Change &first = *change.first;
  if (first.isMove()) {
    edit.move(first.kernel, state.kernel(first.kernel), first.place);
    return edit;
  }
  if (first.rest)
    edit.replaced.emplace_back(first.kernel, first.rest->kernel);
  for (auto it = change.first; it != change.second; ++it)
    for (const Copy *copy : it->copies)
      edit.inserted.emplace_back(it->place, copy->kernel);
  return edit;
}

/// Whether the simulator agrees.
bool MemoryReducer::isValid() const {
  return state.isLegal() &&
         validate(problem, state.plan(), /*slots=*/false, kernels)
             .error.empty();
}

/// Makes the changes if they take off at least \p share of the expected gain.
bool MemoryReducer::make(ChangeRange change, double share) {
  int64_t gain = 0;
  for (auto it = change.first; it != change.second; ++it)
    gain += it->gain;
  int64_t before = state.excessBytes(options.budgetBytes);
  state.apply(editOf(change));
  int64_t taken = before - state.excessBytes(options.budgetBytes);
  if (taken > 0 &&
      static_cast<double>(taken) >= share * static_cast<double>(gain) &&
      isValid()) {
    state.compact();
    changes.startNext();
    return true;
  }
  state.undo();
  return false;
}

/// Makes the best change that takes anything off; as long as much is to be
/// taken off, several that repeat kernels.
bool MemoryReducer::makeBest() {
  constexpr size_t mostTries = 64, mostAtOnce = 8;
  constexpr double mostOfIt = 0.7;
  const std::vector<Change> found = changes.find();
  auto end = found.begin();
  int64_t gain = 0;
  for (; end != found.end() && end->isRepeat() &&
         end < found.begin() + mostAtOnce;
       ++end) {
    gain += end->gain;
    if (gain > state.excessBytes(options.budgetBytes) / 4)
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

bool MemoryReducer::reduce() {
  constexpr int mostSteps = 1000;
  for (int step = 0; step < mostSteps; ++step) {
    if (state.peakBytes() <= options.budgetBytes)
      return true;
    if (options.costNs(state.timeNs(), state.extraFlops()) > options.mostNs ||
        options.deadline.isOver())
      return false;
    // A change that failed may do now.
    if (!makeBest() && !(changes.forgetFailed() && makeBest()))
      return false;
  }
  return false;
}

bool MemoryReducer::run() {
  bool fits = reduce();
  plan = state.takePlan();
  return fits;
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
