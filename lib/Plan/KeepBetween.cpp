//===- KeepBetween.cpp - Fewer repeats where there is room ----------------===//
//
// A plan that makes everything from nothing makes most of it again and again.
// From the last kernel to the first: a kernel whose output nobody reads is
// left out, and one that makes values again if the instances before fit until
// the last readers of these. Last ones first, since what is left out takes with
// it what was made for it.
//
//===----------------------------------------------------------------------===//

#include "KeepBetween.h"

#include "ckpt/Plan/Validate.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

class Keeper {
public:
  Keeper(const Problem &problem, Plan &plan, int64_t limitBytes)
      : problem(problem), plan(plan), limit(limitBytes), kernels(problem) {}
  void run();

private:
  /// What a kernel writes.
  struct Output {
    int32_t kernel;
    ValueId value;
    /// What wrote the same value before, or `none`.
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
  bool keepAllUntil(int32_t kernel);
  bool keepUntil(Output &kept, int32_t kernel);
  void leaveOut(int32_t kernel);

  const Problem &problem;
  Plan &plan;
  const int64_t limit;
  KernelCache kernels;
  std::vector<Output> outputs;
  std::vector<std::vector<int32_t>> made;   // per kernel: places in `outputs`
  std::vector<std::vector<int32_t>> inputs; // per kernel: places in `outputs`
  std::vector<int64_t> live;                // with workspace
  std::vector<char> isLeftOut;
};

} // namespace

void Keeper::measure() {
  size_t count = plan.kernels.size();
  made.resize(count);
  inputs.resize(count);
  isLeftOut.assign(count, 0);
  live.assign(count + 1, 0);
  std::vector<int32_t> latest(problem.values.size(), none);
  for (size_t k = 0; k < count; ++k) {
    auto kernel = static_cast<int32_t>(k);
    for (ValueId value : kernels.get(plan.kernels[k]).memoryReads)
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
    live[instance.kernel + takesOver] += slot;
    live[instance.lastRead + 1] -= slot;
    if (!takesOver)
      continue;
    const Instance &under = verdict.instances[instance.takesOver];
    for (int32_t output : made[under.kernel])
      outputs[output].overwritten |= outputs[output].value == under.value;
  }
  for (size_t k = 0; k < count; ++k)
    live[k] += k > 0 ? live[k - 1] : 0;
  for (size_t k = 0; k < count; ++k)
    live[k] += slotBytes(kernels.get(plan.kernels[k]).workspaceBytes);
}

/// Lets the readers of what \p kernel makes again read \p kept, if that fits.
bool Keeper::keepUntil(Output &kept, int32_t kernel) {
  int64_t slot = slotOf(kept.value);
  int32_t from = lastOf(kept) + !kept.overwritten;
  if (slot > 0)
    for (int32_t k = from; k < kernel; ++k)
      if (live[k] + slot > limit)
        return false;
  for (int32_t k = from; k < kernel; ++k)
    live[k] += slot;
  return true;
}

/// Lets the readers of all that \p kernel makes read what stood before, if that
/// fits.
bool Keeper::keepAllUntil(int32_t kernel) {
  const std::vector<int64_t> unchanged = live;
  for (int32_t output : made[kernel])
    if (int32_t before = outputs[output].before;
        before == none || !keepUntil(outputs[before], kernel)) {
      live = unchanged;
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
    input.readers.erase(
        std::find(input.readers.begin(), input.readers.end(), kernel));
    if (last != kernel)
      continue;
    input.overwritten = false;
    for (int32_t k = lastOf(input) + 1; k < kernel; ++k)
      live[k] -= slotOf(input.value);
  }
}

void Keeper::run() {
  measure();
  for (auto k = static_cast<int32_t>(plan.kernels.size()); k-- > 0;)
    if (isUnread(k) || keepAllUntil(k))
      leaveOut(k);
  size_t count = 0;
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    if (!isLeftOut[k])
      std::swap(plan.kernels[count++], plan.kernels[k]);
  plan.kernels.resize(count);
}

void ckpt::plan::keepBetween(const Problem &problem, Plan &plan,
                             int64_t limitBytes) {
  Keeper(problem, plan, limitBytes).run();
}
