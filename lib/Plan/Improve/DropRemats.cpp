//===- DropRemats.cpp - Drops needless remats, one by one -----------------===//

#include "Plan/Improve/DropRemats.h"

#include "Plan/Model/PlanEdit.h"

#include <algorithm>
#include <iterator>
#include <utility>

using namespace ckpt::plan;

namespace {
/// A kernel that writes a value that stood in memory before.
struct Repeat {
  size_t kernel;
  /// The part that makes all other outputs; without ops if there are none.
  Kernel rest;
  int64_t savedNs;
};
} // namespace

/// The remats of \p plan, the dearest first.
static std::vector<Repeat> findRepeats(const Problem &problem, const Plan &plan,
                                       KernelCache &kernels) {
  std::vector<char> written(problem.values.size(), 0);
  std::vector<Repeat> repeats;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel &kernel = plan.kernels[k];
    Repeat repeat = {k, Kernel(), kernels.get(kernel).timeNs};
    for (ValueId value : kernel.outputs)
      if (!std::exchange(written[value], 1))
        repeat.rest.outputs.push_back(value);
    if (repeat.rest.outputs.size() == kernel.outputs.size())
      continue;
    if (!repeat.rest.outputs.empty()) {
      repeat.rest.ops = kernel.ops;
      trimOps(problem, repeat.rest);
      repeat.savedNs -= kernels.get(repeat.rest).timeNs;
    }
    repeats.push_back(std::move(repeat));
  }
  std::stable_sort(repeats.begin(), repeats.end(),
                   [](const Repeat &left, const Repeat &right) {
                     return left.savedNs > right.savedNs;
                   });
  return repeats;
}

bool ckpt::plan::dropRemats(const Problem &problem, Plan &plan,
                            int64_t budgetBytes, Deadline deadline) {
  // Kernels in all simulations: half a second.
  constexpr size_t mostSimulated = 500000;
  KernelCache kernels(problem);
  std::vector<Repeat> repeats = findRepeats(problem, plan, kernels);
  if (size_t most = mostSimulated / std::max<size_t>(1, plan.kernels.size());
      repeats.size() > most)
    repeats.resize(most);
  std::vector<Kernel> all = std::move(plan.kernels);
  auto listed = [&] {
    Plan listed;
    std::copy_if(all.begin(), all.end(), std::back_inserter(listed.kernels),
                 [](const Kernel &kernel) { return !kernel.ops.empty(); });
    return listed;
  };
  bool changed = false;
  for (Repeat &repeat : repeats) {
    if (deadline.isOver())
      break;
    std::swap(all[repeat.kernel], repeat.rest);
    Verdict verdict = validate(problem, listed(), /*slots=*/false, kernels);
    if (verdict.error.empty() && verdict.livePeakBytes <= budgetBytes)
      changed = true;
    else
      std::swap(all[repeat.kernel], repeat.rest);
  }
  plan = listed();
  return changed;
}
