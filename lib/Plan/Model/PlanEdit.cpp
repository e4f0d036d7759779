//===- PlanEdit.cpp - Dead outputs and merged kernels ---------------------===//
//
// The walk writes one kernel per anchor or materialised value. An elementwise
// consumer of an anchor, and elementwise kernels of one shape, can join it: the
// raw value need not stand in memory (weight gradients before their update),
// and shared operands are read once. Constructions and moves call it on every
// draft.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/PlanEdit.h"

#include <algorithm>

using namespace ckpt::plan;

void ckpt::plan::trimOps(const Problem &problem, Kernel &kernel) {
  std::vector<char> needed(kernel.ops.size(), 0);
  auto indexOf = [&](OpId op) -> int64_t {
    auto found = std::lower_bound(kernel.ops.begin(), kernel.ops.end(), op);
    return found != kernel.ops.end() && *found == op
               ? found - kernel.ops.begin()
               : -1;
  };
  for (ValueId output : kernel.outputs)
    needed[indexOf(problem.values[output].op)] = 1;
  for (size_t i = kernel.ops.size(); i-- > 0;) {
    const Op &op = problem.ops[kernel.ops[i]];
    needed[i] |= op.hasEffects || !op.mayRepeat;
    if (!needed[i])
      continue;
    for (const Read &read : op.reads)
      if (OpId producer = problem.values[read.value].op; producer != none)
        if (int64_t index = indexOf(producer); index >= 0)
          needed[index] = 1;
  }
  size_t kept = 0;
  for (size_t i = 0; i < kernel.ops.size(); ++i)
    if (needed[i])
      kernel.ops[kept++] = kernel.ops[i];
  kernel.ops.resize(kept);
}

/// Calls \p function for every value that the kernel reads from memory; may
/// repeat one.
template <typename Function>
static void forEachRead(const Problem &problem, const Kernel &kernel,
                        Function function) {
  for (OpId op : kernel.ops)
    for (const Read &read : problem.ops[op].reads) {
      OpId producer = problem.values[read.value].op;
      if (producer == none ||
          !std::binary_search(kernel.ops.begin(), kernel.ops.end(), producer))
        function(read.value);
    }
}

void ckpt::plan::removeDeadOutputs(const Problem &problem, Plan &plan) {
  std::vector<char> wanted(problem.values.size(), 0);
  for (size_t value = 0; value < wanted.size(); ++value)
    wanted[value] = problem.values[value].home == Home::Result;
  for (size_t k = plan.kernels.size(); k-- > 0;) {
    Kernel &kernel = plan.kernels[k];
    std::vector<ValueId> outputs;
    for (ValueId output : kernel.outputs)
      if (wanted[output] || problem.values[output].keep == Keep::Save)
        outputs.push_back(output);
    bool mustRun = false;
    for (OpId op : kernel.ops)
      mustRun |= problem.ops[op].hasEffects || !problem.ops[op].mayRepeat;
    if (outputs.empty() && mustRun)
      outputs = kernel.outputs;
    if (outputs.size() != kernel.outputs.size()) {
      kernel.outputs = outputs;
      if (outputs.empty())
        kernel.ops.clear();
      else
        trimOps(problem, kernel);
    }
    for (ValueId output : kernel.outputs)
      wanted[output] = 0;
    forEachRead(problem, kernel, [&](ValueId value) { wanted[value] = 1; });
  }
  plan.kernels.erase(
      std::remove_if(plan.kernels.begin(), plan.kernels.end(),
                     [](const Kernel &kernel) { return kernel.ops.empty(); }),
      plan.kernels.end());
}

namespace {

/// One sweep of merges. Kernels keep their numbers until the end; a merged one
/// runs at the place of the earlier, whose number it keeps.
class Merger {
public:
  /// \p verdict is that of \p plan. Kernels with more than \p allowedBytes get
  /// no more.
  Merger(const Problem &problem, Plan &plan, const Verdict &verdict,
         int64_t allowedBytes, KernelCache &kernels)
      : problem(problem), plan(plan), allowed(allowedBytes), kernels(kernels) {
    measure(verdict.instances);
  }
  bool run();

private:
  struct Uses {
    std::vector<int32_t> writes, reads;
  };

  void measure(const std::vector<Instance> &instances);
  bool isElementwise(int32_t k) const { return infos[k]->anchor == none; }
  bool tryMerge(int32_t first, int32_t second);
  bool mayHoist(int32_t first, int32_t second) const;
  bool hasEvent(const std::vector<int32_t> &events, int32_t after,
                int32_t before) const;
  Kernel unite(int32_t first, int32_t second,
               std::vector<ValueId> &unwritten) const;
  bool fits(int32_t first, int32_t second, const KernelInfo &info,
            const std::vector<ValueId> &unwritten);
  int32_t lastReadBefore(ValueId value, int32_t kernel) const;
  bool isRead(ValueId value, int32_t after) const;
  int64_t slotOf(ValueId value) const {
    const Value &v = problem.values[value];
    return v.home == Home::Arena ? slotBytes(v.bytes) : 0;
  }

  const Problem &problem;
  Plan &plan;
  const int64_t allowed;
  KernelCache &kernels;
  const KernelInfo nothing; // of a kernel that is gone
  std::vector<const KernelInfo *> infos;
  std::vector<Uses> uses;
  std::vector<int64_t> live, delta;
  std::vector<char> gone, backward, fixed;
  bool ordersPasses = false;
};

void Merger::measure(const std::vector<Instance> &instances) {
  size_t count = plan.kernels.size();
  live.assign(count + 1, 0);
  for (const Instance &instance : instances) {
    int64_t slot = slotOf(instance.value);
    live[instance.kernel + (instance.takesOver != none)] += slot;
    live[instance.lastRead + 1] -= slot;
  }
  for (size_t k = 1; k < count; ++k)
    live[k] += live[k - 1];
  uses.assign(problem.values.size(), {});
  gone.assign(count, 0);
  backward.assign(count, 0);
  fixed.assign(count, 0);
  for (size_t k = 0; k < count; ++k) {
    infos.push_back(&kernels.get(plan.kernels[k]));
    live[k] += slotBytes(infos[k]->workspaceBytes);
    for (ValueId value : infos[k]->memoryReads)
      uses[value].reads.push_back(static_cast<int32_t>(k));
    for (ValueId value : plan.kernels[k].outputs)
      uses[value].writes.push_back(static_cast<int32_t>(k));
    for (OpId op : plan.kernels[k].ops) {
      backward[k] |= problem.ops[op].backward;
      fixed[k] |= problem.ops[op].hasEffects;
    }
  }
  for (const Value &value : problem.values)
    ordersPasses |= value.keep == Keep::Recompute;
}

/// Whether some event lies strictly between.
bool Merger::hasEvent(const std::vector<int32_t> &events, int32_t after,
                      int32_t before) const {
  auto found = std::upper_bound(events.begin(), events.end(), after);
  return found != events.end() && *found < before;
}

bool Merger::isRead(ValueId value, int32_t after) const {
  const Uses &use = uses[value];
  auto write = std::upper_bound(use.writes.begin(), use.writes.end(), after);
  int32_t end = write == use.writes.end()
                    ? static_cast<int32_t>(plan.kernels.size())
                    : *write + 1;
  return hasEvent(use.reads, after, end);
}

int32_t Merger::lastReadBefore(ValueId value, int32_t kernel) const {
  const Uses &use = uses[value];
  int32_t last = -1;
  for (const std::vector<int32_t> *events : {&use.reads, &use.writes}) {
    auto found = std::lower_bound(events->begin(), events->end(), kernel);
    if (found != events->begin())
      last = std::max(last, *(found - 1));
  }
  return last;
}

/// Whether the reads of \p second are there when \p first runs, and its outputs
/// do not disturb a kernel in between.
bool Merger::mayHoist(int32_t first, int32_t second) const {
  if (fixed[second] || (ordersPasses && backward[first] != backward[second]))
    return false;
  for (ValueId value : infos[second]->memoryReads)
    if (hasEvent(uses[value].writes, first, second))
      return false;
  for (ValueId value : plan.kernels[second].outputs)
    if (hasEvent(uses[value].writes, first - 1, second) ||
        hasEvent(uses[value].reads, first - 1, second))
      return false;
  return true;
}

/// The kernel of both; \p unwritten gets the values that then have no reader in
/// memory.
Kernel Merger::unite(int32_t first, int32_t second,
                     std::vector<ValueId> &unwritten) const {
  const Kernel &a = plan.kernels[first];
  const Kernel &b = plan.kernels[second];
  Kernel both;
  std::set_union(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(),
                 std::back_inserter(both.ops));
  for (ValueId value : a.outputs) {
    const Value &v = problem.values[value];
    const std::vector<ValueId> &reads = infos[second]->memoryReads;
    bool onlyHere = v.home == Home::Arena && v.keep != Keep::Save &&
                    std::binary_search(reads.begin(), reads.end(), value) &&
                    !hasEvent(uses[value].reads, first, second) &&
                    !isRead(value, second);
    (onlyHere ? unwritten : both.outputs).push_back(value);
  }
  both.outputs.insert(both.outputs.end(), b.outputs.begin(), b.outputs.end());
  return both;
}

/// Checks the live bytes between both places and enters the change if it fits.
bool Merger::fits(int32_t first, int32_t second, const KernelInfo &info,
                  const std::vector<ValueId> &unwritten) {
  int64_t grown = 0;
  for (ValueId value : plan.kernels[second].outputs)
    grown += slotOf(value);
  for (ValueId value : unwritten)
    grown -= slotOf(value);
  delta.assign(second - first + 1, grown);
  delta.back() = 0;
  for (ValueId value : infos[second]->memoryReads) {
    int64_t slot = slotOf(value);
    bool ends = problem.values[value].op != none && !isRead(value, second);
    bool fromFirst = std::binary_search(uses[value].writes.begin(),
                                        uses[value].writes.end(), first);
    if (!slot || !ends || fromFirst)
      continue;
    bool inPlace = false;
    for (const InPlacePair &pair : info.inPlace)
      inPlace |= pair.input == value;
    int32_t last = std::max(lastReadBefore(value, second), first);
    for (int32_t k = last + !(inPlace && last == first); k < second; ++k)
      delta[k - first] -= slot;
  }
  for (int32_t k = first; k <= second; ++k)
    if (delta[k - first] > 0 && live[k] + delta[k - first] > allowed)
      return false;
  for (int32_t k = first; k <= second; ++k)
    live[k] += delta[k - first];
  return true;
}

bool Merger::tryMerge(int32_t first, int32_t second) {
  // Beyond this, kernels gain nothing more, and to analyze them takes long.
  constexpr size_t mostOutputs = 32, mostOps = 512;
  const Kernel &a = plan.kernels[first], &b = plan.kernels[second];
  if (a.outputs.size() + b.outputs.size() > mostOutputs ||
      a.ops.size() + b.ops.size() > mostOps || !mayHoist(first, second))
    return false;
  std::vector<ValueId> unwritten;
  Kernel both = unite(first, second, unwritten);
  if (both.outputs.empty())
    return false;
  const KernelInfo &info = kernels.get(both);
  if (!info.error.empty() ||
      info.timeNs >= infos[first]->timeNs + infos[second]->timeNs ||
      !fits(first, second, info, unwritten))
    return false;
  auto move = [&](std::vector<int32_t> &events) {
    events.erase(std::lower_bound(events.begin(), events.end(), second));
    auto place = std::lower_bound(events.begin(), events.end(), first);
    if (place == events.end() || *place != first)
      events.insert(place, first);
  };
  for (ValueId value : infos[second]->memoryReads)
    move(uses[value].reads);
  for (ValueId value : plan.kernels[second].outputs)
    move(uses[value].writes);
  for (int32_t k : {first})
    for (ValueId value : infos[k]->memoryReads)
      if (!std::binary_search(info.memoryReads.begin(), info.memoryReads.end(),
                              value))
        uses[value].reads.erase(std::lower_bound(uses[value].reads.begin(),
                                                 uses[value].reads.end(), k));
  for (ValueId value : infos[second]->memoryReads)
    if (!std::binary_search(info.memoryReads.begin(), info.memoryReads.end(),
                            value)) {
      auto &reads = uses[value].reads;
      auto found = std::lower_bound(reads.begin(), reads.end(), first);
      if (found != reads.end() && *found == first)
        reads.erase(found);
    }
  for (ValueId value : unwritten) {
    auto &writes = uses[value].writes;
    writes.erase(std::lower_bound(writes.begin(), writes.end(), first));
  }
  plan.kernels[first] = std::move(both);
  infos[first] = &info;
  plan.kernels[second] = Kernel();
  infos[second] = &nothing;
  gone[second] = 1;
  return true;
}

bool Merger::run() {
  bool changed = false;
  for (int32_t k = 1; k < static_cast<int32_t>(plan.kernels.size()); ++k) {
    if (!isElementwise(k))
      continue;
    std::vector<int32_t> candidates;
    for (ValueId value : infos[k]->memoryReads) {
      const std::vector<int32_t> &writes = uses[value].writes;
      auto found = std::lower_bound(writes.begin(), writes.end(), k);
      if (found != writes.begin())
        candidates.push_back(*(found - 1));
      const std::vector<int32_t> &reads = uses[value].reads;
      found = std::lower_bound(reads.begin(), reads.end(), k);
      if (found != reads.begin() && isElementwise(*(found - 1)))
        candidates.push_back(*(found - 1));
    }
    int32_t before = k - 1;
    while (before > 0 && gone[before])
      --before;
    if (isElementwise(before))
      candidates.push_back(before);
    std::sort(candidates.rbegin(), candidates.rend());
    candidates.erase(std::unique(candidates.begin(), candidates.end()),
                     candidates.end());
    for (int32_t candidate : candidates)
      if (!gone[candidate] && tryMerge(candidate, k)) {
        changed = true;
        break;
      }
  }
  plan.kernels.erase(
      std::remove_if(plan.kernels.begin(), plan.kernels.end(),
                     [](const Kernel &kernel) { return kernel.ops.empty(); }),
      plan.kernels.end());
  return changed;
}

} // namespace

Verdict ckpt::plan::improve(const Problem &problem, Plan &plan,
                            int64_t allowedBytes) {
  KernelCache kernels(problem);
  return improve(problem, plan, allowedBytes, kernels);
}

Verdict ckpt::plan::improve(const Problem &problem, Plan &plan,
                            int64_t allowedBytes, KernelCache &kernels) {
  removeDeadOutputs(problem, plan);
  Verdict verdict = validate(problem, plan, false, kernels);
  auto merge = [&](int rounds, bool mayExceed) {
    for (int round = 0; round < rounds && verdict.error.empty(); ++round) {
      int64_t most = std::max(allowedBytes, verdict.livePeakBytes);
      Plan merged = plan;
      if (!Merger(problem, merged, verdict, mayExceed ? most : allowedBytes,
                  kernels)
               .run())
        return;
      removeDeadOutputs(problem, merged);
      Verdict next = validate(problem, merged, false, kernels);
      if (!next.error.empty() || next.livePeakBytes > most)
        return;
      plan = std::move(merged);
      verdict = std::move(next);
    }
  };
  // A live sum above the limit may still be mended, as long as no other one
  // rises above it.
  constexpr int rounds = 4;
  if (allowedBytes > 0 && verdict.livePeakBytes > allowedBytes)
    merge(rounds, /*mayExceed=*/false);
  merge(rounds, /*mayExceed=*/true);
  return verdict;
}
