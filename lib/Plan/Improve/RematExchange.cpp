//===- RematExchange.cpp - Exchanges a remat for cheaper ones -------------===//
//
// Walks and schedules decide once, with prices in place of the later effects of
// a choice. In the finished list, each remat can be asked for the cost of the
// best plan without it: large neighbourhood search (Shaw, CP 1998). The
// neighbourhood is one remat less, the repair is `reduceMemory`.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/RematExchange.h"

#include "Plan/Improve/MergeMove.h"
#include "Plan/Model/PlanEdit.h"
#include "Plan/Model/RunBoth.h"

#include <algorithm>
#include <array>
#include <set>

using namespace ckpt::plan;

namespace {

/// A kernel that does something again.
struct Repeat {
  size_t kernel = 0;
  /// If it writes a new value: the anchor that it runs again, and the kernel
  /// that ran it before. Otherwise the kernel may be left out.
  OpId anchor = none;
  size_t before = 0;
  double ns = 0;
};

class Exchanger {
public:
  Exchanger(const Problem &problem, Plan plan, MemoryOptions options,
            const std::function<bool(const Plan &)> &mayTake)
      : problem(problem), plan(std::move(plan)), options(std::move(options)),
        mayTake(mayTake), kernels{KernelCache(problem), KernelCache(problem)} {
    least = this->options.budgetBytes - this->options.budgetBytes / 20;
  }
  void run();

private:
  /// A plan and its cost, in nanoseconds.
  struct Candidate {
    Plan plan;
    double ns = std::numeric_limits<double>::max();
  };
  /// Identity of a remat for any numbers of kernels.
  using Key = std::pair<std::vector<ValueId>, OpId>;

  std::vector<Repeat> findRepeats();
  Key keyOf(const Repeat &repeat) const {
    return {plan.kernels[repeat.kernel].outputs, repeat.anchor};
  }
  Plan leaveOut(const Repeat &repeat) const;
  Candidate without(const Repeat &repeat, KernelCache &kernels) const;
  bool exchangeOne();
  bool isOver() const { return kernelsLeft < 0 || options.deadline.isOver(); }

  const Problem &problem;
  Plan plan;
  MemoryOptions options;
  const std::function<bool(const Plan &)> &mayTake;
  /// Kernel caches of both lanes.
  std::array<KernelCache, 2> kernels;
  /// If slots of a plan did not fit, others leave a little more room for gaps,
  /// down to this limit.
  int64_t least;
  /// How many more the plans that are tried may have in all.
  int64_t kernelsLeft = 100000;
  /// Remats tried in this pass.
  std::set<Key> tried;
};

} // namespace

/// Remats not tried yet, the costliest first.
std::vector<Repeat> Exchanger::findRepeats() {
  std::vector<char> written(problem.values.size(), 0);
  std::vector<int32_t> ranIn(problem.ops.size(), none);
  std::vector<Repeat> repeats;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel &kernel = plan.kernels[k];
    Repeat repeat;
    repeat.kernel = k;
    bool isNew = false;
    for (ValueId value : kernel.outputs) {
      isNew |= !written[value];
      written[value] = 1;
    }
    bool anchorAgain = false;
    for (OpId op : kernel.ops) {
      if (!isAnchor(problem.ops[op]))
        continue;
      if (ranIn[op] != none) {
        anchorAgain = true;
        repeat.anchor = isNew ? op : none;
        repeat.before = ranIn[op];
        repeat.ns +=
            options.flopNs * static_cast<double>(problem.ops[op].flops);
      }
      ranIn[op] = static_cast<int32_t>(k);
    }
    if ((isNew && !anchorAgain) || tried.count(keyOf(repeat)))
      continue;
    repeat.ns += static_cast<double>(kernels[0].get(kernel).timeNs);
    repeats.push_back(repeat);
  }
  std::stable_sort(repeats.begin(), repeats.end(),
                   [](const Repeat &left, const Repeat &right) {
                     return left.ns > right.ns;
                   });
  return repeats;
}

/// The plan without \p repeat, which may need too much memory, or lack a value
/// that a kernel reads: then the result of its anchor is written the first time
/// and read.
Plan Exchanger::leaveOut(const Repeat &repeat) const {
  Plan rest = plan;
  Kernel &kernel = rest.kernels[repeat.kernel];
  if (repeat.anchor == none) {
    kernel.outputs.clear();
  } else {
    std::vector<ValueId> &outputs = rest.kernels[repeat.before].outputs;
    for (ValueId result : problem.ops[repeat.anchor].results) {
      if (std::find(outputs.begin(), outputs.end(), result) == outputs.end())
        outputs.push_back(result);
      kernel.outputs.erase(
          std::remove(kernel.outputs.begin(), kernel.outputs.end(), result),
          kernel.outputs.end());
    }
    kernel.ops.erase(
        std::find(kernel.ops.begin(), kernel.ops.end(), repeat.anchor));
    trimOps(problem, kernel);
  }
  if (kernel.outputs.empty())
    rest.kernels.erase(rest.kernels.begin() +
                       static_cast<ptrdiff_t>(repeat.kernel));
  return rest;
}

/// The best plan found without \p repeat.
Exchanger::Candidate Exchanger::without(const Repeat &repeat,
                                        KernelCache &kernels) const {
  Candidate candidate;
  MemoryOptions fit = options;
  fit.notAgain = repeat.anchor == none ? plan.kernels[repeat.kernel].outputs
                                       : problem.ops[repeat.anchor].results;
  Plan rest = leaveOut(repeat);
  if (!validate(problem, rest, /*slots=*/false, kernels).error.empty())
    return candidate;
  removeDeadOutputs(problem, rest);
  if (!reduceMemory(problem, rest, fit, kernels))
    return candidate;
  Verdict verdict = mergeKernels(problem, rest, options.budgetBytes, kernels);
  if (!verdict.error.empty() || verdict.livePeakBytes > options.budgetBytes)
    return candidate;
  candidate.ns = options.costNs(verdict);
  candidate.plan = std::move(rest);
  return candidate;
}

/// Makes the next change that pays off; two are looked at at a time.
bool Exchanger::exchangeOne() {
  // Less is not worth the time to find places.
  constexpr double worthTaking = 0.9997;
  std::vector<Repeat> repeats = findRepeats();
  for (size_t i = 0; i < repeats.size() && !isOver(); i += 2) {
    kernelsLeft -= static_cast<int64_t>(2 * plan.kernels.size());
    auto withoutThe = [&](size_t lane) {
      size_t number = i + lane;
      return number < repeats.size() ? without(repeats[number], kernels[lane])
                                     : Candidate();
    };
    auto [first, second] = runBoth(
        plan.kernels.size(), [&] { return withoutThe(0); },
        [&] { return withoutThe(1); });
    size_t next = i;
    for (Candidate *candidate : {&first, &second}) {
      if (next < repeats.size())
        tried.insert(keyOf(repeats[next++]));
      if (candidate->ns >= worthTaking * options.mostNs)
        continue;
      if (!mayTake(candidate->plan)) {
        options.budgetBytes =
            std::max(options.budgetBytes - options.budgetBytes / 100, least);
        continue;
      }
      plan = std::move(candidate->plan);
      options.mostNs = candidate->ns;
      return true;
    }
  }
  return false;
}

void Exchanger::run() {
  for (bool again = true; again && !isOver();) {
    again = false;
    tried.clear();
    while (exchangeOne())
      again = true;
  }
}

void ckpt::plan::exchangeRemats(
    const Problem &problem, Plan plan, MemoryOptions options,
    const std::function<bool(const Plan &)> &mayTake) {
  Exchanger(problem, std::move(plan), std::move(options), mayTake).run();
}
