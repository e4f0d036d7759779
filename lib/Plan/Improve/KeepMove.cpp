//===- KeepMove.cpp - Fewer remats where there is room --------------------===//
//
// A plan that makes every result from nothing repeats most values many times,
// and a schedule that runs out of memory drops more than it has to. From the
// last kernel to the first, this move drops a kernel whose output has no
// reader, and a remat whose earlier instances fit until their last readers.
// Last kernels come first, since a dropped kernel takes with it the kernels
// that serve it alone.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/KeepMove.h"

#include "Plan/Model/Work.h"

#include "Plan/Improve/LiveProfile.h"
#include "ckpt/Plan/Validate.h"

#include <algorithm>
#include <optional>

using namespace ckpt::plan;

namespace {

class Keeper {
public:
  Keeper(const Problem &problem, Plan &plan, int64_t limitBytes,
         KernelCache &kernels)
      : problem(problem), plan(plan), limit(limitBytes), kernels(kernels) {}
  void run();

private:
  /// An output of a kernel.
  struct Output {
    int32_t kernel;
    ValueId value;
    /// The writer of the value before, or `none`.
    int32_t before = none;
    /// Kernels, ascending; the last one may write over it.
    std::vector<int32_t> readers;
    bool overwritten = false;
  };

  void measure();
  int32_t lastOf(const Output &output) const {
    return output.readers.empty() ? output.kernel : output.readers.back();
  }
  int64_t slotOf(ValueId value) const {
    const Value &v = problem.values[value];
    return v.home == Home::Arena ? slotBytes(v.bytes) : 0;
  }
  bool isUnread(int32_t kernel) const;
  void skipLeftOut(int32_t kernel);
  bool keepAllUntil(int32_t kernel);
  /// The first kernel while which it does not stand in memory.
  int32_t firstFree(const Output &output) const {
    return lastOf(output) + !output.overwritten;
  }
  bool keepUntil(const Output &kept, int32_t kernel);
  void leaveOut(int32_t kernel);

  const Problem &problem;
  Plan &plan;
  const int64_t limit;
  KernelCache &kernels;
  std::vector<Output> outputs;
  std::vector<std::vector<int32_t>> made;   // per kernel: places in `outputs`
  std::vector<std::vector<int32_t>> inputs; // per kernel: places in `outputs`
  std::optional<LiveProfile> live;          // per kernel, with workspace
  std::vector<const KernelInfo *> infos;    // per kernel
  std::vector<char> isLeftOut;
};

} // namespace

void Keeper::measure() {
  size_t count = plan.kernels.size();
  made.resize(count);
  inputs.resize(count);
  isLeftOut.assign(count, 0);
  std::vector<int64_t> bytes(count + 1, 0);
  std::vector<int32_t> latest(problem.values.size(), none);
  for (size_t k = 0; k < count; ++k) {
    auto kernel = static_cast<int32_t>(k);
    infos.push_back(&kernels.get(plan.kernels[k]));
    for (ValueId value : infos[k]->memoryReads)
      if (int32_t from = latest[value]; from != none) {
        outputs[from].readers.push_back(kernel);
        inputs[k].push_back(from);
      }
    for (ValueId value : plan.kernels[k].outputs) {
      made[k].push_back(static_cast<int32_t>(outputs.size()));
      outputs.push_back({kernel, value, latest[value], {}});
      latest[value] = made[k].back();
    }
  }
  Verdict verdict = validate(problem, plan, /*slots=*/false, kernels);
  for (const Instance &instance : verdict.instances) {
    int64_t slot = slotOf(instance.value);
    bool takesOver = instance.takesOver != none;
    bytes[instance.kernel + takesOver] += slot;
    bytes[instance.lastRead + 1] -= slot;
    if (!takesOver)
      continue;
    const Instance &under = verdict.instances[instance.takesOver];
    for (int32_t output : made[under.kernel])
      outputs[output].overwritten |= outputs[output].value == under.value;
  }
  for (size_t k = 0; k < count; ++k)
    bytes[k] += k > 0 ? bytes[k - 1] : 0;
  for (size_t k = 0; k < count; ++k)
    bytes[k] += slotBytes(infos[k]->workspaceBytes);
  live.emplace(bytes);
}

/// Lets \p kept stand in memory until \p kernel, if that fits.
bool Keeper::keepUntil(const Output &kept, int32_t kernel) {
  // The backward pass must not read values that it has to make again.
  if (problem.values[kept.value].keep == Keep::Recompute)
    return false;
  int64_t slot = slotOf(kept.value);
  int32_t from = firstFree(kept);
  if (slot > 0 && live->most(from, kernel) + slot > limit)
    return false;
  live->add(from, kernel, slot);
  return true;
}

/// Finds the writers before \p kernel of its values that are not left out.
void Keeper::skipLeftOut(int32_t kernel) {
  for (int32_t output : made[kernel]) {
    int32_t &before = outputs[output].before;
    while (before != none && isLeftOut[outputs[before].kernel])
      before = outputs[before].before;
  }
}

/// Lets the readers of all outputs of \p kernel read the earlier instances, if
/// these fit.
bool Keeper::keepAllUntil(int32_t kernel) {
  skipLeftOut(kernel);
  for (size_t i = 0; i < made[kernel].size(); ++i) {
    int32_t before = outputs[made[kernel][i]].before;
    if (before != none && keepUntil(outputs[before], kernel))
      continue;
    while (i-- > 0) {
      const Output &kept = outputs[outputs[made[kernel][i]].before];
      live->add(firstFree(kept), kernel, -slotOf(kept.value));
    }
    return false;
  }
  for (int32_t output : made[kernel]) {
    const std::vector<int32_t> &again = outputs[output].readers;
    Output &kept = outputs[outputs[output].before];
    kept.readers.insert(kept.readers.end(), again.begin(), again.end());
    if (!again.empty())
      kept.overwritten = outputs[output].overwritten;
  }
  return true;
}

bool Keeper::isUnread(int32_t kernel) const {
  for (OpId op : plan.kernels[kernel].ops)
    if (problem.ops[op].hasEffects || !problem.ops[op].mayRepeat)
      return false;
  return std::all_of(made[kernel].begin(), made[kernel].end(), [&](int32_t i) {
    return outputs[i].readers.empty() &&
           problem.values[outputs[i].value].home != Home::Result;
  });
}

void Keeper::leaveOut(int32_t kernel) {
  isLeftOut[kernel] = 1;
  for (int32_t from : inputs[kernel]) {
    Output &input = outputs[from];
    int32_t last = lastOf(input);
    // Readers after it are gone or few.
    input.readers.erase(
        std::find(input.readers.rbegin(), input.readers.rend(), kernel).base() -
        1);
    if (last != kernel)
      continue;
    input.overwritten = false;
    live->add(lastOf(input) + 1, kernel, -slotOf(input.value));
  }
}

void Keeper::run() {
  measure();
  Work::spend(500 * static_cast<int64_t>(plan.kernels.size()));
  // Anchors take most time.
  for (auto k = static_cast<int32_t>(plan.kernels.size()); k-- > 0;)
    if (isUnread(k) || (infos[k]->anchor != none && keepAllUntil(k)))
      leaveOut(k);
  for (auto k = static_cast<int32_t>(plan.kernels.size()); k-- > 0;)
    if (!isLeftOut[k] && (isUnread(k) || keepAllUntil(k)))
      leaveOut(k);
  size_t count = 0;
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    if (!isLeftOut[k])
      std::swap(plan.kernels[count++], plan.kernels[k]);
  plan.kernels.resize(count);
}

void ckpt::plan::keepValues(const Problem &problem, Plan &plan,
                            int64_t limitBytes) {
  KernelCache kernels(problem);
  keepValues(problem, plan, limitBytes, kernels);
}

void ckpt::plan::keepValues(const Problem &problem, Plan &plan,
                            int64_t limitBytes, KernelCache &kernels) {
  Keeper(problem, plan, limitBytes, kernels).run();
}
